import { moment, momentUtc } from '../format.js'
import { t } from '../texts.js'

/** A moment in the viewer's zone, with UTC as its title; a dash for null. */
export const Time = ({ at }: { readonly at: string | null }) =>
  at === null ? (
    <span>{t.none}</span>
  ) : (
    <time dateTime={at} title={momentUtc(at)}>
      {moment(at)}
    </time>
  )
