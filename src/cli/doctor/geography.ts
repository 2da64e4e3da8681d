import type { Config } from '../../process/config.js'
import { openGeography } from '../../storage/geography-files.js'
import { type Finding, findingsOf } from './finding.js'

const { ok, problem } = findingsOf('geography')

const NONE: Config['geography'] = { places: null, networks: null, anonymizers: null }

/** Checks the files of GEOIP_DB, ASN_DB and ANONYMIZERS by reading them as the service does. */
export function checkGeography({ geography }: Pick<Config, 'geography'>): Finding[] {
  const given = Object.entries(geography).filter(([, file]) => file !== null)
  const problems = given.flatMap(([name, file]) => {
    try {
      openGeography({ ...NONE, [name]: file }, () => {})
      return []
    } catch (error) {
      const found = `${(error as Error).message}.`
      return problem(found, 'Name another file, or unset the variable: the service does not start with this one.')
    }
  })
  if (problems.length > 0 || given.length === 0) return problems
  return [ok('The files of locations, networks and anonymizers can be read.')]
}
