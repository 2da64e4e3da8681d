import type { Device, Network, Place } from './context/circumstances.js'
import type { Indicator, IndicatorReading } from './context/signal.js'
import type { RecommendedAction } from './verdict.js'

/** What is kept of a typing attempt beside its decision: what was known around it, and how it was judged. */
export interface AttemptFacts {
  readonly ip: string | null
  readonly network: Network | null
  readonly anonymizer: boolean | null
  readonly place: Place | null
  readonly device: Device | null
  readonly application: string | null
  readonly tags: readonly { readonly k: string; readonly v: string }[]
  /** Every context indicator, with the weights it was judged by. */
  readonly indicators: readonly IndicatorReading[]
  readonly botLikelihood: number
  /** Against the enrolled references; and against these and the adaptive ones, null where that was not asked. */
  readonly confidenceEnrolled: number
  readonly confidenceAdapted: number | null
  /** Whether any context indicator that was weighed knew something. */
  readonly contextKnown: boolean
  /** What the shadow policy would have said; null where there was none. */
  readonly shadow: { readonly policyId: string; readonly recommendedAction: RecommendedAction } | null
  readonly replayRejected: boolean
  readonly impossibleTravel: boolean
  /** Called a machine; a replay, whether or not that was refused. */
  readonly bot: boolean
  readonly replay: boolean
  readonly mode: 'visible' | 'sensitive'
  /** Reference patterns that it was scored against, in that order. */
  readonly references: readonly string[]
  readonly adaptive: readonly string[]
}

/** What attempts are counted by, hour by hour. None names a person. */
type Facets = Readonly<Record<string, string>>

const BANDS = ['high', 'medium', 'low', 'unknown'] as const
type Band = (typeof BANDS)[number]

/** Thirds of a score; `unknown` is null, which is not 0. */
function bandOf(score: number | null): Band {
  if (score === null) return 'unknown'
  return score >= 2 / 3 ? 'high' : score >= 1 / 3 ? 'medium' : 'low'
}

export const bandFacet = (indicator: Indicator): string => `score.${indicator}`

/** Places of a map, `48.9 2.4`: to a tenth of a degree, some 10 km. */
const PLACE_DIGITS = 1

export function facetsOf(
  facts: AttemptFacts,
  {
    confidenceBiometrics,
    recommendedAction,
  }: { readonly confidenceBiometrics: number; readonly recommendedAction: RecommendedAction },
): Facets {
  const { place, device, network } = facts
  const named: Record<string, string | null> = {
    application: facts.application,
    country: place?.country ?? null,
    place:
      place === null
        ? null
        : `${place.latitude.toFixed(PLACE_DIGITS)} ${place.longitude.toFixed(PLACE_DIGITS)} ${place.country ?? ''} ${place.city ?? ''}`.trim(),
    browser: device?.browser ?? null,
    os: device?.os ?? null,
    kind: device?.kind ?? null,
    asn: network === null ? null : `AS${network.asn}`,
    anonymizer: facts.anonymizer === null ? null : String(facts.anonymizer),
    shadow:
      facts.shadow === null ? null : `${facts.shadow.policyId} ${recommendedAction} ${facts.shadow.recommendedAction}`,
    [bandFacet('biometric')]: bandOf(confidenceBiometrics),
    [bandFacet('bot')]: bandOf(1 - facts.botLikelihood),
  }
  for (const { indicator, score } of facts.indicators) named[bandFacet(indicator)] = bandOf(score)
  const facets: Record<string, string> = {}
  for (const name in named) {
    const value = named[name] ?? null
    if (value !== null) facets[name] = value
  }
  return facets
}
