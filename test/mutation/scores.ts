/** The mutated files: the rules of attempts, codes, user references, links and redirects. */
export const MUTATED: readonly string[] = [
  'src/domain/attempts.ts',
  'src/domain/security-code.ts',
  'src/domain/user-ref.ts',
  'src/domain/profile-link.ts',
  'src/domain/redirect-uri.ts',
]

/** Least share of the mutants of each file that tests must detect, %. */
export const BAR = 80

/** A small bug in a file, with its outcome. */
interface Mutant {
  readonly fileName: string
  readonly status: string
}

interface Score {
  readonly file: string
  readonly mutants: number
  readonly noticed: number
  /** Percent, rounded down to tenths, so that a score below the bar never reads as the bar. */
  readonly percent: number
}

/** A test failed or did not end. A mutant on which the runner itself fails is not detected. */
const NOTICED = ['Killed', 'Timeout']

/** The score of each file, in the given order; 0 for a file without mutants. */
export const scores = (files: readonly string[], mutants: readonly Mutant[]): Score[] =>
  files.map((file) => {
    const own = mutants.filter(({ fileName }) => fileName.endsWith(file))
    const noticed = own.filter(({ status }) => NOTICED.includes(status)).length
    const percent = own.length === 0 ? 0 : Math.floor((1000 * noticed) / own.length) / 10
    return { file, mutants: own.length, noticed, percent }
  })

/** Whether all files reach the bar. */
export const holds = (table: readonly Score[]): boolean =>
  table.length > 0 && table.every(({ percent }) => percent >= BAR)

/** The table as text for a terminal. */
export const tableText = (table: readonly Score[]): string =>
  table
    .map(({ file, mutants, noticed, percent }) => {
      const verdict = percent >= BAR ? 'holds' : 'FAILS'
      return `${verdict}  ${percent.toFixed(1).padStart(5)} %  ${String(noticed).padStart(4)} of ${String(mutants).padStart(4)}  ${file}`
    })
    .join('\n')
