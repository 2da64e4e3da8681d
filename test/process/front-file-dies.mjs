// Fronts of supervise.long.test.ts. Front 0 serves, and exits at its first start, once its supervisor has its message. The other one
// serves only after front 0 has been started again.
import { appendFileSync, readFileSync } from 'node:fs'

const starts = process.argv[2]
const serve = () => process.send({ kind: 'serving', version: '0.0.0' })
process.on('disconnect', () => process.exit(0))
if (process.env.KEYSTRIDE_FRONT === '0') {
  appendFileSync(starts, '.')
  if (readFileSync(starts, 'utf8') === '.') process.on('message', () => process.exit(1))
  serve()
} else {
  const look = setInterval(() => {
    if (readFileSync(starts, 'utf8').length < 2) return
    clearInterval(look)
    serve()
  }, 20)
}
