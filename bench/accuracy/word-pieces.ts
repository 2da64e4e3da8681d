import type { Subject, TypingSession } from '../../src/calibration/dataset.js'

/** One typing of a word by a person, with the Space after it. */
export interface WordPiece {
  readonly word: string
  readonly presses: TypingSession
  /** From the press of the previous Space to its first press. */
  readonly leadMs: number
}

const SPACE = 37
const LETTERS_MIN = 2

/** The words of at least two letters, and only letters, that a person typed between two Spaces in these sessions. */
export function wordPieces({ sessions }: Subject, from: number, until: number): WordPiece[] {
  return Array.from({ length: until - from }, (_, i) => sessions.get(String(from + i)) ?? []).flatMap(piecesOf)
}

function piecesOf(session: TypingSession): WordPiece[] {
  const spaces = [...session.keys()].filter((i) => session[i]?.key === SPACE)
  return spaces.slice(1).flatMap((end, i) => {
    const before = spaces[i] ?? 0
    const presses = session.slice(before + 1, end + 1)
    const letters = presses.slice(0, -1)
    if (letters.length < LETTERS_MIN || !letters.every(({ key }) => key >= 1 && key <= 26)) return []
    const word = letters.map(({ key }) => String.fromCharCode(96 + key)).join('')
    return [{ word, presses, leadMs: (presses[0]?.pressMs ?? 0) - (session[before]?.pressMs ?? 0) }]
  })
}

/** Joins words: each follows the Space of the previous one with its recorded delay. */
export function glued(pieces: readonly WordPiece[]): TypingSession {
  const out: { key: number; pressMs: number; releaseMs: number }[] = []
  for (const { presses, leadMs } of pieces) {
    const before = out.at(-1)
    const shift = (before === undefined ? 0 : before.pressMs + leadMs) - (presses[0]?.pressMs ?? 0)
    for (const { key, pressMs, releaseMs } of presses)
      out.push({ key, pressMs: pressMs + shift, releaseMs: releaseMs + shift })
  }
  return out.slice(0, -1)
}

/** Takes different words in their order until they have `presses` key presses. */
export function takeWords(pieces: readonly WordPiece[], presses: number): WordPiece[] {
  const taken = new Map<string, WordPiece>()
  let count = -1
  for (const piece of pieces) {
    if (count >= presses) break
    if (taken.has(piece.word)) continue
    taken.set(piece.word, piece)
    count += piece.presses.length
  }
  return [...taken.values()]
}
