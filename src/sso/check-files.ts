import { readFileSync } from 'node:fs'
import { ExpectedFault } from '../base/expected-fault.js'
import { canonicalHost, type HostList, mayAlert } from '../domain/alert-host.js'
import { loadDirectoryFile } from './directory/file.js'
import { SECRET_MIN, type SsoSettings } from './settings.js'

/**
 * Checks the files with secrets, the directory file, and that ALERT_HOSTS permits the mail server. Resolves to the warnings. Throws
 * an `ExpectedFault` with a line for each problem.
 */
export async function checkSsoFiles(settings: SsoSettings, mailHosts: HostList): Promise<string[]> {
  const problems = [...secretProblems(settings), ...mailProblems(settings, mailHosts)]
  const warnings: string[] = []
  if (settings.directory.kind === 'file')
    await loadDirectoryFile(settings.directory.path).then(
      ({ faults }) => {
        if (faults !== null) warnings.push(`directory.path: ${faults}`)
      },
      (error: Error) => problems.push(`directory.path: ${error.message}`),
    )
  if (problems.length > 0) throw new ExpectedFault(`SSO_FILE: cannot be used:\n  ${problems.join('\n  ')}`)
  return warnings
}

/** A field, its file if any, and the minimum number of characters. */
type Secret = [field: string, path: string | undefined, least: number]

function secretProblems({ core, directory, mail, clients }: SsoSettings): string[] {
  const files: Secret[] = [
    ['core.apikeyFile', core.apikeyFile, 1],
    ['mail.passwordFile', mail?.passwordFile, 1],
    ['directory.bindPasswordFile', directory.kind === 'ldap' ? directory.bindPasswordFile : undefined, 1],
    ['directory.ca', directory.kind === 'ldap' ? directory.ca : undefined, 1],
    ['directory.clientSecretFile', directory.kind === 'userinfo' ? directory.clientSecretFile : undefined, 1],
    ...clients.map(({ id, secretFile }): Secret => [`clients.${id}.secretFile`, secretFile, SECRET_MIN]),
  ]
  return files.flatMap(([field, path, least]) => {
    if (path === undefined) return []
    try {
      const { length } = readFileSync(path, 'utf8').trim()
      return length >= least ? [] : [`${field}: ${path} holds ${length} characters: ${least} or more are needed`]
    } catch (error) {
      return [`${field}: ${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`]
    }
  })
}

function mailProblems({ mail }: SsoSettings, hosts: HostList): string[] {
  const host = canonicalHost(mail?.host ?? '')
  return mail === undefined || (host !== null && mayAlert(host, hosts))
    ? []
    : [`mail.host: ${mail.host} is not in ALERT_HOSTS, so no one-time password can be sent`]
}
