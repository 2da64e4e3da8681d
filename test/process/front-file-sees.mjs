// Fronts of supervise.long.test.ts. Front 0 reports an organization when its supervisor asks for metrics; both write the messages that they get.
import { appendFileSync } from 'node:fs'

const [, , heard] = process.argv
const front = process.env.KEYSTRIDE_FRONT
process.on('disconnect', () => process.exit(0))
process.on('message', ({ kind, organizations }) => {
  if (kind === 'give-metrics' && front === '0') process.send({ kind: 'organizations-seen', organizations: ['one'] })
  if (kind === 'organizations-elsewhere') appendFileSync(heard, `front ${front}: ${organizations}\n`)
})
process.send({ kind: 'serving', version: '0.0.0' })
