import { configTable, SECRETS } from './config.js'

/** The service sets the first variable for its own processes; examples, tests and benches use the others. */
const INTERNAL = [
  'KEYSTRIDE_FRONT',
  'KEYSTRIDE_KEY',
  'KEYSTRIDE_APIKEY',
  'KEYSTRIDE_DATA_SETS',
  'KEYSTRIDE_SCREENSHOTS',
]
/** Former settings, which would otherwise be ignored or taken for a misspelt one. */
const REMOVED = ['DATABASE_PREPARE', 'KEY_BURST', 'METRICS_HOST', 'SCORING_WORKERS']
/** Set by Kubernetes in every container for a service that is named keystride. */
const KUBERNETES = /^KEYSTRIDE_(SERVICE_(HOST|PORT)|PORT)(_|$)/

/**
 * One sentence for each variable that looks like a setting of the service but is not: every unknown `KEYSTRIDE_*`, former
 * settings, and misspelt names. Their values are not read.
 */
export function unknownVariables(env: NodeJS.ProcessEnv): string[] {
  const known = [...configTable().map(({ name }) => name), ...SECRETS.map((name) => `${name}_FILE`)]
  return Object.keys(env)
    .filter((name) => !known.includes(name) && !INTERNAL.includes(name) && !KUBERNETES.test(name))
    .flatMap((name) => {
      if (REMOVED.includes(name)) return [`${name} is not a setting of Keystride`]
      const near = known
        .map((one) => ({ one, distance: editDistance(name.toUpperCase(), one) }))
        .filter(({ one, distance }) => distance <= allowed(one))
        .sort((a, b) => a.distance - b.distance)[0]?.one
      if (near !== undefined) return [`${name} is not a setting of Keystride: did you mean ${near}?`]
      return name.startsWith('KEYSTRIDE_') ? [`${name} is not a setting of Keystride`] : []
    })
    .sort()
}

/** Short names are similar to variables of other programs: HOST to HOME, PORT to PATH. */
const allowed = (name: string): number => (name.length < 6 ? 0 : name.length < 9 ? 1 : 2)

/** The least number of inserted, deleted, replaced and swapped letters between two names (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(before, j - 2) + 1 : replaced
      row.push(Math.min(replaced, swapped, at(last, j) + 1, at(row, j - 1) + 1))
    }
    ;[before, last] = [last, row]
  }
  return at(last, b.length)
}

const at = (row: readonly number[], i: number): number => row[i] ?? Number.POSITIVE_INFINITY
