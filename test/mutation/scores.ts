/** Files whose mutants are counted: what decides about attempts, codes, references of users, links and where they lead. */
export const MUTATED: readonly string[] = [
  'src/domain/attempts.ts',
  'src/domain/security-code.ts',
  'src/domain/user-ref.ts',
  'src/domain/profile-link.ts',
  'src/domain/redirect-uri.ts',
]

/** Percent of the mutants of each file that some test has to notice. */
export const BAR = 80

/** One small bug that was put into a file, and what became of it. */
interface Mutant {
  readonly fileName: string
  readonly status: string
}

interface Score {
  readonly file: string
  readonly mutants: number
  readonly noticed: number
  /** Percent, cut off to tenths: what falls short of the bar does not look like it. */
  readonly percent: number
}

/** A test failed of it, or did not end. A mutant on which the runner itself broke off counts as not noticed. */
const NOTICED = ['Killed', 'Timeout']

/** The score of each file, in the order given; a file without mutants has 0. */
export const scores = (files: readonly string[], mutants: readonly Mutant[]): Score[] =>
  files.map((file) => {
    const own = mutants.filter(({ fileName }) => fileName.endsWith(file))
    const noticed = own.filter(({ status }) => NOTICED.includes(status)).length
    const percent = own.length === 0 ? 0 : Math.floor((1000 * noticed) / own.length) / 10
    return { file, mutants: own.length, noticed, percent }
  })

/** Whether every file reaches the bar. */
export const holds = (table: readonly Score[]): boolean =>
  table.length > 0 && table.every(({ percent }) => percent >= BAR)

/** The table as text for a terminal. */
export const told = (table: readonly Score[]): string =>
  table
    .map(({ file, mutants, noticed, percent }) => {
      const verdict = percent >= BAR ? 'holds' : 'FAILS'
      return `${verdict}  ${percent.toFixed(1).padStart(5)} %  ${String(noticed).padStart(4)} of ${String(mutants).padStart(4)}  ${file}`
    })
    .join('\n')

/** Where and how a run was made. */
interface Run {
  readonly date: string
  readonly machine: string
  readonly seconds: number
}

const minutes = (seconds: number) => `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`

/** docs/mutation.md. */
export const page = (table: readonly Score[], { date, machine, seconds }: Run): string => `# Mutation tests

Stryker puts small bugs into the rules of attempts, codes, user references, profile links and redirects, one at a time: an inverted
comparison, a condition that is always true, a missing text, a regular expression without its anchor. Tests must notice at least ${BAR} % of
the bugs in each file. Some of the others change nothing that can be observed.

\`npm run test:mutation -- --write\` writes this page. Counted on ${date} in ${minutes(seconds)}; machine: ${machine}.

| file | bugs | noticed | score |
|---|---|---|---|
${table.map(({ file, mutants, noticed, percent }) => `| \`${file}\` | ${mutants} | ${noticed} | ${percent.toFixed(1)} % |`).join('\n')}
`

/** The rows of such a page: file and score. */
export const rowsOfPage = (text: string): (readonly [file: string, percent: number])[] =>
  [...text.matchAll(/^\| `([^`]+)` \|.*\| ([\d.]+) % \|$/gm)].map(([, file = '', percent]) => [file, Number(percent)])
