import type { Device, Network, Place } from './context/circumstances.js'
import type { Indicator, IndicatorReading } from './context/signal.js'
import type { Sitting } from './sitting.js'
import type { TypedWords } from './typed-words.js'
import type { RecommendedAction } from './verdict.js'

/** The known pattern that an attempt's pattern is nearest to, if a sincere pattern is seldom as near. */
interface CopyOf {
  readonly patternId: string
  /** Share of sincere patterns that are as near, 0 to 1. Absent from attempts recorded before this field existed. */
  readonly chance?: number
}

/** The facts stored with a typing attempt's decision: its context and its judgement. */
export interface AttemptFacts {
  readonly ip: string | null
  readonly network: Network | null
  readonly anonymizer: boolean | null
  readonly place: Place | null
  readonly device: Device | null
  readonly application: string | null
  readonly tags: readonly { readonly k: string; readonly v: string }[]
  /** Every context indicator, with the weights that applied. */
  readonly indicators: readonly IndicatorReading[]
  readonly botLikelihood: number
  /** Confidence against the enrolled references, and against all references (null if not scored). */
  readonly confidenceEnrolled: number
  readonly confidenceAdapted: number | null
  /** Whether any weighted context indicator had a score. */
  readonly contextKnown: boolean
  /** The shadow policy's recommendation; null if no shadow policy was set. */
  readonly shadow: { readonly policyId: string; readonly recommendedAction: RecommendedAction } | null
  /** Null if the pattern is not near enough to a known pattern to raise a doubt. */
  readonly copyOf: CopyOf | null
  /** The pattern was rejected because it has the times of a known pattern. */
  readonly replayRejected: boolean
  /** The pattern was rejected because it is an edited copy of a known pattern. */
  readonly editedCopyRejected: boolean
  /** The pattern may be a copy. Absent from attempts recorded before this field existed. */
  readonly copyInDoubt?: boolean
  readonly impossibleTravel: boolean
  /** The typing was classified as a machine's. */
  readonly bot: boolean
  /** A replay was detected, even if it was not rejected. */
  readonly replay: boolean
  readonly mode: 'visible' | 'sensitive'
  /** Whether the words of the session were typed. Absent from attempts recorded before sessions had words. */
  readonly typedWords?: TypedWords
  /** The sitting whose trees gave the confidence. Absent from attempts recorded before this field existed. */
  readonly sitting?: Sitting
  /** Ids of the enrolled and of the adaptive reference patterns that the pattern was scored against, in order of scoring. */
  readonly references: readonly string[]
  readonly adaptive: readonly string[]
}

/** Labels that attempts are counted by, per hour. None identifies a person. */
type Facets = Readonly<Record<string, string>>

const BANDS = ['high', 'medium', 'low', 'unknown'] as const
type Band = (typeof BANDS)[number]

/** Thirds of a score; `unknown` for null, which is not 0. */
function bandOf(score: number | null): Band {
  if (score === null) return 'unknown'
  return score >= 2 / 3 ? 'high' : score >= 1 / 3 ? 'medium' : 'low'
}

export const bandFacet = (indicator: Indicator): string => `score.${indicator}`

/** Decimals of map coordinates (`48.9 2.4`): a tenth of a degree, about 10 km. */
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
