/** Text of `npm run bench -- load --help`. */
export const HELP = `Load-tests a deployment of the service with complete sign-ins, and reports the rate it sustains.

  npm run bench -- load [options]

examples
  npm run bench -- load                                          starts a service, 64 connections, 30 s
  npm run bench -- load --url https://auth.example.net --apikey-file key.txt --rate 200 --duration 2m
  npm run bench -- load --url http://10.0.0.5:8080 --apikey-file key.txt --ramp 50:500:50 --p99 50ms --html report.html
  npm run bench -- load --rate 50 --fail-if "p99>50ms,errors>0.1%" --json load.json      in CI: exit status 1 if it fails

what is tested
  --url URL            the service; without a path, /core is used. Unset: the load tester starts a service, on a
                       PostgreSQL that it starts too or on DATABASE_URL, with REDIS_URL if set
  --apikey-file FILE   file with the API key, or the demo.json of a service; else the variable KEYSTRIDE_APIKEY. Use a
                       key of an organization created for the test: people are created in it
  --metrics URL        the service's metrics, reported with the figures of the load generator; unset: /metrics of the
                       service, if it answers. Behind a balancer these are the metrics of one machine

how much
  --rate N             open loop: N sign-ins begin each second, independent of the answers
  --arrivals KIND      poisson (default): random, as people arrive; even: at fixed intervals
  --ramp FROM:TO:STEP  open loop at one rate after the other, until two in a row break --p99 or --errors: the knee is
                       the last rate that held them
  --connections N      without --rate and --ramp a closed loop: N sign-ins at once, the next starts when one ends (64);
                       with them the most connections that are opened (256)
  --duration TIME      measured time of the run, or of each step of a ramp: 30s, 2m (30s; 10s in a ramp)
  --warmup TIME        time before the measurement, left out of the figures (5s; 2s in a ramp)
  --p99 TIME           bound on the p99 of bootstrap and of verify for --ramp (50ms)
  --errors SHARE       bound on errors for --ramp (0.1%)
  --timeout TIME       a request without an answer this long after its intended start is abandoned (10s)

who signs in
  --people N           people enrolled beforehand (100)
  --seed N             seed of the synthetic people and of all random choices (1)
  --data FOLDER        people of the open data set in FOLDER (aalto_desktop.tsv.gz) with their own typing instead
  --impostors SHARE    sign-ins typed by another person (0.02)
  --enroll SHARE       arrivals of a new person, who enrolls (0.01)
  --codes SHARE        people with a security code, given if the answer to their typing is a challenge (0.25)
  --by-code SHARE      sign-ins in which a person with a code gives it at once, without typing (0.02)
  --name NAME          part of the userRefs, which are load-NAME-<number>; by default from the clock
  --keep               keep the people; otherwise they are deleted at the end

what comes out
  --json FILE          all figures; --json-schema prints the meaning of the fields and exits
  --html FILE          a report with plots, one file that opens offline
  --fail-if LIST       comma-separated, such as "p99>50ms,errors>0.1%,goodput<100": exit status 1 if one is true.
                       p50, p90, p99, p99.9, max in us, ms or s, of verify unless named (signin.p99>200ms); errors,
                       false-rejects, false-accepts in %; goodput in sign-ins a second. In a ramp: of the knee
  --workers N          threads of the load generator, up to 64 (a quarter of the cores, at least one)
  --help               this text

exit status: 0 done, 1 a threshold failed, 2 the test could not be run, 3 inconclusive (the load generator was strained),
130 stopped with Ctrl-C or SIGTERM (the report so far is written; repeat it to stop at once). Meaning of the figures:
docs/scaling.md
`
