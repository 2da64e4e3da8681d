import { hash, randomBytes } from 'node:crypto'

/** 256 random bits in base64url: 43 characters. */
export const newToken = (): string => randomBytes(32).toString('base64url')

export const sha256 = (text: string): Uint8Array => hash('sha256', text, 'buffer')

/** Bearer values are stored and looked up by this hash. */
export const sha256Hex = (text: string): string => hash('sha256', text)

/** The part of a session that a record shows: the beginning of its hash, never the bearer value. */
export const shownSessionId = (sessionSha256: string): string => sessionSha256.slice(0, 16)
