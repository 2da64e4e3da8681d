import type { Config } from '../../process/config.js'
import { checkSsoFiles } from '../../sso/check-files.js'
import { readSsoSettings } from '../../sso/settings.js'
import { type Finding, findingsOf } from './finding.js'

const { ok, warning, problem } = findingsOf('single sign-on')

/** Checks SSO_FILE and the files that it names. */
export async function checkSingleSignOn({
  ssoFile,
  alertHosts,
}: Pick<Config, 'ssoFile' | 'alertHosts'>): Promise<Finding[]> {
  if (ssoFile === null) return []
  try {
    const warnings = await checkSsoFiles(readSsoSettings(ssoFile), alertHosts)
    if (warnings.length === 0) return [ok('The settings of single sign-on can be used.')]
    return warnings.map((line) => warning(`${line}.`, 'Correct the entries: the file is read again when it changes.'))
  } catch (error) {
    return [problem(`${(error as Error).message}.`, 'Correct the file: single sign-on does not start with it.')]
  }
}
