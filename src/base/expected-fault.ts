/** A fault that the operator can correct. The message is complete: logs omit the stack. */
export class ExpectedFault extends Error {
  override readonly name = 'ExpectedFault'
}
