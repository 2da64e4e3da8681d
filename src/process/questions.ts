/** Questions to one other process, which answers each with its id. `Message` are the messages that come from it. */
export interface Questions<Message extends Answering> {
  /**
   * Calls `send` with a new id and resolves with the answer of this kind and id; null if none comes within `withinMs`, or `failed`
   * is called.
   */
  ask<K extends Message['kind']>(
    kind: K,
    send: (id: number, failed: () => void) => void,
    withinMs: number,
  ): Promise<Extract<Message, { kind: K }> | null>
  /** To be called with every message from the process: one listener serves any number of questions. */
  readonly hear: (message: Message) => void
}

interface Answering {
  readonly kind: string
  readonly id?: number
}

export function createQuestions<Message extends Answering>(): Questions<Message> {
  const waiting = new Map<number, { readonly kind: string; readonly settle: (answer: Message | null) => void }>()
  let asked = 0
  return {
    ask: <K extends Message['kind']>(kind: K, send: (id: number, failed: () => void) => void, withinMs: number) =>
      new Promise<Extract<Message, { kind: K }> | null>((resolve) => {
        const id = asked++
        const settle = (answer: Message | null): void => {
          clearTimeout(late)
          waiting.delete(id)
          // Sound: `hear` has compared the kinds.
          resolve(answer as Extract<Message, { kind: K }> | null)
        }
        const late = setTimeout(() => settle(null), withinMs)
        waiting.set(id, { kind, settle })
        send(id, () => settle(null))
      }),
    hear(message) {
      const question = message.id === undefined ? undefined : waiting.get(message.id)
      // The other process numbers its own questions too.
      if (question?.kind === message.kind) question.settle(message)
    },
  }
}
