// Fronts of supervise.long.test.ts. Front 0 reports 16 deletions at once when its supervisor asks for metrics; both write the messages that they get.
import { appendFileSync } from 'node:fs'

const heard = process.argv[2]
process.on('disconnect', () => process.exit(0))
process.on('message', ({ kind, id }) => {
  if (kind === 'give-metrics' && process.env.KEYSTRIDE_FRONT === '0')
    for (let i = 0; i < 16; i += 1) process.send({ kind: 'person-erased', id: i, person: {} })
  if (kind === 'forget-person') process.send({ kind: 'forgotten', id })
  if (kind === 'forget-person' || kind === 'all-forgot') appendFileSync(heard, `${kind}\n`)
})
process.send({ kind: 'serving', version: '0.0.0' })
