import type { Subject, TypingSession } from '../../src/calibration/dataset.js'
import { equalErrorRate, figuresOf, type PersonScores } from '../../src/calibration/metrics.js'
import { type Participant, runProtocol } from '../../src/calibration/protocols.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import { encodeSample } from '../../src/scoring/sample.js'

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
const LENGTHS = [15, 20, 25, 35, 50, 75, 100]
const REFERENCES = [3, 4, 5, 6, 8, 10]
const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i)
const sample = (session: TypingSession): Uint8Array => encodeSample(session, 'visible')

/**
 * Lines of a report on people outside the fit: the distribution of errors over people, how often three tries in a row fail, and
 * how accuracy changes with text length, number of references and shared text.
 */
export function movesFigures(kernel: Kernel, people: readonly Subject[]): string[] {
  return [
    ...spreadOver(runProtocol(kernel, participants(people, 5, 50)).confidence),
    ...LENGTHS.map((presses) => row(kernel, `${presses} presses`, participants(people, 5, presses))),
    ...REFERENCES.map((count) => row(kernel, `${count} references`, participants(people, count, 50))),
    ...bySharedText(kernel, participants(people, 5, 50)),
  ]
}

/** Texts of more than 50 presses are two sessions in sequence, half a second apart. */
function participants(people: readonly Subject[], references: number, presses: number): Participant[] {
  return people.flatMap(({ sessions }) => {
    const all = range(0, 15).map((i) => sessions.get(String(i)) ?? [])
    const texts = presses > 50 ? range(0, 7).map((i) => joined(all[2 * i] ?? [], all[2 * i + 1] ?? [])) : all
    const cut = texts.map((text) => text.slice(0, presses)).filter((text) => text.length > 0)
    const enrolled = presses > 50 ? Math.min(references, 5) : references
    const probes = cut.slice(presses > 50 ? 5 : 10)
    const impostor = probes[0]
    return impostor === undefined ? [] : [{ references: cut.slice(0, enrolled), probes, impostor }]
  })
}

function joined(first: TypingSession, second: TypingSession): TypingSession {
  const shift = (first.at(-1)?.releaseMs ?? 0) + 500
  const later = second.map(({ key, pressMs, releaseMs }) => ({
    key,
    pressMs: pressMs + shift,
    releaseMs: releaseMs + shift,
  }))
  return [...first, ...later]
}

function row(kernel: Kernel, name: string, asked: readonly Participant[]): string {
  const { fused, confidence } = runProtocol(kernel, asked)
  const { global_eer, per_user_eer, fnmr_at_1pct } = figuresOf(fused)
  const impostor = confidence.flatMap((person) => person.impostor)
  const genuine = confidence.flatMap((person) => person.genuine)
  const half = [
    percent(impostor.filter((score) => score >= 0.5).length / impostor.length),
    percent(genuine.filter((score) => score < 0.5).length / genuine.length),
  ]
  const cells = [percent(global_eer), percent(per_user_eer), percent(fnmr_at_1pct), ...half]
  return `| ${name} | ${cells.join(' | ')} |`
}

/** Distribution over people of how many of five honest attempts fail at 0.5; and how often three in a row fail. */
function spreadOver(people: readonly PersonScores[]): string[] {
  const failed = people.map(({ genuine }) => genuine.map((score) => score < 0.5))
  const counts = range(0, 6).map((n) => failed.filter((tries) => tries.filter(Boolean).length === n).length)
  const runs = failed.flatMap((tries) =>
    range(0, Math.max(0, tries.length - 2)).map((i) => tries.slice(i, i + 3).every(Boolean)),
  )
  return [
    `people by failures at 0.5 in five honest attempts: ${counts.map((n, i) => `${i}: ${percent(n / people.length)}`).join(', ')}`,
    `honest runs of three attempts that all fail: ${percent(runs.filter(Boolean).length / runs.length)} of ${runs.length}`,
  ]
}

const SHARED = [0, 0.3, 0.4, 0.5, 1]

/** Comparisons grouped by the share of the probe's key pairs that the references have. */
function bySharedText(kernel: Kernel, asked: readonly Participant[]): string[] {
  const classes = SHARED.slice(1).map(() => ({ genuine: [] as number[], impostor: [] as number[] }))
  asked.forEach(({ references, probes }, own) => {
    for (const [i, reference] of references.entries()) kernel.read(i + 1, sample(reference))
    const take = (probe: TypingSession, kind: 'genuine' | 'impostor'): void => {
      kernel.read(0, sample(probe))
      const { fused } = kernel.scoreRead(references.length)
      const shared = kernel.compare(references.length)[2] ?? 0
      classes[SHARED.slice(1).findIndex((limit) => shared <= limit)]?.[kind].push(fused)
    }
    for (const probe of probes) take(probe, 'genuine')
    for (const [i, other] of asked.entries()) if (i !== own && i % 4 === own % 4) take(other.impostor, 'impostor')
  })
  return classes.map(({ genuine, impostor }, i) => {
    const eer = genuine.length * impostor.length === 0 ? 'none' : percent(equalErrorRate(genuine, impostor))
    return `${percent(SHARED[i] ?? 0)} to ${percent(SHARED[i + 1] ?? 1)} of the pairs shared: equal error rate ${eer}, ${genuine.length} genuine`
  })
}
