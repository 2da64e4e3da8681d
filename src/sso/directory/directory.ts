import { clipped } from '../../base/text.js'
import { withoutMarks } from '../../domain/entered-code.js'

/** A name as people, applications and providers write it: without outer spaces and invisible marks, and with one form of each accent. */
export const writtenName = (text: string): string => clipped(withoutMarks(text.normalize('NFC')).trim(), NAME_MAX)

const NAME_MAX = 256

/** A person of the directory. */
export interface DirectoryPerson {
  /** Normalized: names the person's account. */
  readonly userRef: string
  /** Null: the directory has none, or one that is not valid. */
  readonly email: string | null
  readonly displayName: string | null
  /** A language tag; null: unknown. */
  readonly language: string | null
}

/** The people who may sign in. */
export interface PeopleDirectory {
  /** Null if the directory does not have exactly one such person. Throws if it cannot be reached. */
  find(name: string): Promise<DirectoryPerson | null>
  close(): Promise<void>
}
