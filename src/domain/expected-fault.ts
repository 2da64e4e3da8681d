/** What an operator can mend, said whole by its message: a log shows no stack of it. */
export class ExpectedFault extends Error {
  override readonly name = 'ExpectedFault'
}
