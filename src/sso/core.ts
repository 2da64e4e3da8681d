import type { SignIn, SignInInput } from '../../packages/client/src/sign-in-result.js'

export type { Again, SignIn, SignInState, Words } from '../../packages/client/src/sign-in-result.js'

/** The core API, through `@keystride/client`. */
export interface Core {
  /** One step of a sign-in: see `Keystride.signIn` of the client. */
  signIn(input: SignInInput): Promise<SignIn>
  /** Deletes the typing profile of a person, who then enrolls again. */
  resetProfile(userRef: string): Promise<void>
}

/** The parts of `@keystride/client` that the bridge uses. */
export interface ClientModule {
  createKeystride(options: { url: string; apikey: string }): {
    signIn(input: SignInInput): Promise<SignIn>
    readonly core: { delete(path: string, input: { path: { userRef: string } }): Promise<unknown> }
  }
}

export function coreApi({ createKeystride }: ClientModule, options: { url: string; apikey: string }): Core {
  const keystride = createKeystride(options)
  return {
    signIn: (input) => keystride.signIn(input),
    async resetProfile(userRef) {
      await keystride.core.delete('/users/{userRef}/typing-patterns', { path: { userRef } })
    },
  }
}

/**
 * Whether an error of the client means that the core API cannot be reached, or cannot answer now; false if it has refused the
 * call. Null if the error is not one of the client.
 */
export function isUnreachable(error: unknown): boolean | null {
  if (!(error instanceof Error) || error.name !== 'KeystrideError') return null
  const { status } = error as Error & { readonly status: number }
  return status === 0 || status === 429 || status >= 500
}
