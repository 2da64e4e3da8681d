import { score } from '../format.js'
import { fill, t } from '../texts.js'

const texts = t.authentication
const [WIDTH, BAND, HEIGHT] = [400, 14, 46]

interface GaugeNeeds {
  readonly confidence: number
  readonly threshold: number
  readonly challengeFrom: number
}

/** The confidence on the scale from 0 to 1, with the ranges that a policy blocks, challenges and authenticates. */
export function Gauge({ confidence, threshold, challengeFrom }: GaugeNeeds) {
  const x = (value: number) => value * WIDTH
  const label = fill(texts.gauge, {
    confidence: score(confidence),
    challenge: score(challengeFrom),
    threshold: score(threshold),
  })
  const bands = [
    { outcome: 'block', from: 0, to: challengeFrom },
    { outcome: 'challenge', from: challengeFrom, to: threshold },
    { outcome: 'auth', from: threshold, to: 1 },
  ]
  return (
    <svg class="gauge" viewBox={`-8 0 ${WIDTH + 16} ${HEIGHT}`} role="img" aria-label={label}>
      {bands.map(({ outcome, from, to }) => (
        <rect key={outcome} class={outcome} x={x(from)} y={16} width={Math.max(0, x(to) - x(from))} height={BAND} />
      ))}
      <path class="mark" d={`M${x(confidence)} 34 l-7 -18 h14 z`} transform="translate(0 -14)" />
      <line class="mark" x1={x(confidence)} x2={x(confidence)} y1={14} y2={32} />
      <text x={x(threshold)} y={HEIGHT - 2} text-anchor={threshold > 0.8 ? 'end' : 'middle'}>
        {fill(texts.threshold, { value: score(threshold) })}
      </text>
    </svg>
  )
}
