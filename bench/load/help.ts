/** What `npm run bench -- load --help` prints. */
export const HELP = `Load-tests a deployment of the service with whole sign-ins, and says what it holds.

  npm run bench -- load [options]

examples
  npm run bench -- load                                          a service of its own, 64 connections, 30 s
  npm run bench -- load --url https://auth.example.net --apikey-file key.txt --rate 200 --duration 2m
  npm run bench -- load --url http://10.0.0.5:8080 --apikey-file key.txt --ramp 50:500:50 --p99 50ms --html report.html
  npm run bench -- load --rate 50 --fail-if "p99>50ms,errors>0.1%" --json load.json      in CI: exit status 1 where it fails

what is tested
  --url URL            the service; without a path, /core is meant. Unset: a service of its own is started, on a
                       PostgreSQL of its own or on DATABASE_URL, with REDIS_URL where that is set
  --apikey-file FILE   file with the API key, or the demo.json of a service; else the variable KEYSTRIDE_APIKEY. Use a
                       key of an organization made for the test: people are created in it
  --metrics URL        the service's own metrics, drawn beside the figures of the load generator; unset: /metrics of
                       the service, where that answers. Behind a balancer it is one machine's

how much
  --rate N             open loop: N sign-ins begin each second, however slow the answers are
  --arrivals KIND      poisson (default): as people come, by chance; even: on a fixed beat
  --ramp FROM:TO:STEP  open loop at one rate after the other, until two in a row break --p99 or --errors: the knee is
                       the last one that held them
  --connections N      without --rate and --ramp a closed loop: N sign-ins at once, each the next when one is done (64);
                       with them the most connections that are opened (256)
  --duration TIME      measured time of the run, or of each step of a ramp: 30s, 2m (30s; 10s in a ramp)
  --warmup TIME        time before it that is left out of the figures (5s; 2s in a ramp)
  --p99 TIME           bound on the p99 of bootstrap and of verify for --ramp (50ms)
  --errors SHARE       bound on errors for --ramp (0.1%)
  --timeout TIME       a request not answered this long after it was meant to begin is given up (10s)

who signs in
  --people N           people enrolled beforehand (100)
  --seed N             made-up people, the same for the same seed (1)
  --data FOLDER        people of the open data set in FOLDER (aalto_desktop.tsv.gz) with their own typing instead
  --impostors SHARE    sign-ins typed by somebody else (0.02)
  --enroll SHARE       arrivals that are somebody new, who enrolls (0.01)
  --codes SHARE        people with a security code, given where the answer to their typing is a challenge (0.25)
  --by-code SHARE      sign-ins in which somebody who has a code gives it at once (0.02)
  --think TIME         pause between an answer and the next pattern, left out of latencies (0s)
  --name NAME          part of the userRefs, which are load-NAME-<number>; drawn from the clock unless given
  --keep               leave the people where they are; otherwise they are deleted at the end

what comes out
  --json FILE          all figures; --json-schema prints what the fields mean and stops
  --html FILE          a report with plots, one file that opens offline
  --fail-if LIST       comma-separated, such as "p99>50ms,errors>0.1%,goodput<100": exit status 1 where one is true.
                       p50, p90, p99, p99.9, max in us, ms or s, of verify unless named (signin.p99>200ms); errors,
                       false-rejects, false-accepts in %; goodput in sign-ins a second. In a ramp: of the knee
  --workers N          threads of the load generator, up to 64 (a quarter of the cores, at least one)
  --help               this text

exit status: 0 done, 1 a threshold failed, 2 the test could not be run, 3 inconclusive (the load generator was strained),
130 stopped with Ctrl-C or SIGTERM (the report so far is written; again to stop at once). What the figures mean:
docs/load-testing.md
`
