import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ADAPTIVE_MAX } from '../../src/domain/adaptation.js'
import { DEFAULT_TARGETS } from '../../src/domain/biometric-status.js'
import { ConfigError, configTable, readConfig } from '../../src/process/config.js'
import { unknownVariables } from '../../src/process/unknown-variables.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'

const problemsOf = (env: Record<string, string>) => {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems
  }
}
const KEY = Buffer.alloc(32, 1).toString('base64')

describe('the configuration', () => {
  it('needs no variable: the embedded default on localhost', () => {
    expect(readConfig({})).toMatchObject({
      port: 8080,
      host: '127.0.0.1',
      publicUrl: 'http://localhost:8080',
      databaseUrl: null,
      redisUrl: null,
      dataFolder: '.keystride',
      replay: 'reject',
      targets: DEFAULT_TARGETS,
      adaptation: true,
    })
  })

  it('has one process for each core that it may use, not for each of the machine', () => {
    const [, core = ''] = /^Cpus_allowed_list:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    const config = new URL('../../build/src/process/config.js', import.meta.url).href
    const program = `console.log((await import(${JSON.stringify(config)})).readConfig({}).processes)`
    const node = [process.execPath, '--input-type=module', '--eval', program]
    expect(execFileSync('taskset', ['--cpu-list', core, ...node], { encoding: 'utf8' })).toBe('1\n')
  })

  it('treats an empty variable as unset', () => expect(readConfig({ PORT: '', REDIS_URL: '' }).port).toBe(8080))

  it('names every invalid variable at once, and never its value', () => {
    const urls = { DATABASE_URL: 'mysql://root:hunter2@db' }
    const problems = problemsOf({ ...urls, PORT: '99999', ROLES: 'core,kitchen', REPLAY: 'maybe' })
    const names = problems.map((problem) => problem.split(/[[:]/)[0]).sort()
    expect(names).toEqual(['DATABASE_URL', 'ENCRYPTION_KEY', 'PORT', 'REPLAY', 'ROLES'])
    expect(problems.join()).not.toContain('hunter2')
  })

  it('says the expected form of every variable in words, and never its value', () => {
    const refused = configTable().flatMap(({ name }) => problemsOf({ ENCRYPTION_KEY: KEY, [name]: ' zqcanary-%' }))
    expect(refused.length).toBeGreaterThan(20)
    for (const problem of refused) {
      expect(problem).toMatch(/^[A-Z_]+(\[\d+\])?: (must|entry|the file)/)
      expect(problem).not.toMatch(/zqcanary|invalid|expected|received|NaN|undefined/i)
    }
    expect(problemsOf({ PORT: '8080.5' })).toEqual(['PORT: must be a whole number'])
    expect(problemsOf({ PORT: '99999' })).toEqual(['PORT: must be 65535 or less'])
  })

  it('refuses a database without an encryption key of 32 bytes, and says how to create one', () => {
    const DATABASE_URL = 'postgres://localhost/keystride'
    expect(problemsOf({ DATABASE_URL })).toEqual([expect.stringContaining('openssl rand -base64 32')])
    expect(problemsOf({ DATABASE_URL, ENCRYPTION_KEY: KEY })).toEqual([])
    expect(problemsOf({ ENCRYPTION_KEY: Buffer.alloc(16, 1).toString('base64') })).toHaveLength(1)
    expect(readConfig({ ENCRYPTION_KEY: KEY })).toMatchObject({ encryptionKeysPrevious: [] })
  })

  it('takes several database servers separated by commas, and refuses an invalid one', () => {
    const of = (DATABASE_URL: string) => problemsOf({ DATABASE_URL, ENCRYPTION_KEY: KEY })
    expect(of('postgres://ann:secret@one:5432,two:5433/keystride?target_session_attrs=read-write')).toEqual([])
    for (const servers of ['ann@one:5432,', 'ann@one:port,two', ''])
      expect(of(`postgres://${servers}/name`)).toHaveLength(1)
  })

  it('keeps statements prepared as the database URL says, and otherwise by whether a pooler is found', () => {
    const of = (search: string) =>
      readConfig({ DATABASE_URL: `postgres://one,two/keystride${search}`, ENCRYPTION_KEY: KEY }).databases[0]?.prepare
    expect(['', '?prepare=true', '?sslmode=require&prepare=false'].map(of)).toEqual([null, true, false])
  })

  it('names further databases, each with its Redis or that of all', () => {
    const env = {
      DATABASE_URL: 'postgres://one/k',
      DATABASE_URLS: ' two=postgres://two,three/k?prepare=true  far-away=postgres://four/k ',
      REDIS_URL: 'redis://all',
      REDIS_URLS: 'two=redis://own',
      ENCRYPTION_KEY: KEY,
    }
    expect(readConfig(env).databases).toEqual([
      { name: 'main', setting: 'DATABASE_URL', url: 'postgres://one/k', prepare: null, redisUrl: 'redis://all' },
      {
        name: 'two',
        setting: 'DATABASE_URLS (two)',
        url: 'postgres://two,three/k?prepare=true',
        prepare: true,
        redisUrl: 'redis://own',
      },
      {
        name: 'far-away',
        setting: 'DATABASE_URLS (far-away)',
        url: 'postgres://four/k',
        prepare: null,
        redisUrl: 'redis://all',
      },
    ])
    expect(readConfig({}).databases).toMatchObject([{ name: 'main', url: null }])
    const problems = (more: object) => problemsOf({ ...env, ...more }).join()
    expect(problems({ DATABASE_URLS: 'main=postgres://two/k' })).toMatch(/a name occurs twice/)
    expect(problems({ DATABASE_URLS: 'Two=postgres://two/k' })).toMatch(/must be name=url/)
    expect(problems({ DATABASE_URLS: 'two=mysql://two/k' })).toMatch(/two: must begin with postgres/)
    expect(problems({ DATABASE_URL: '' })).toMatch(/DATABASE_URLS: requires DATABASE_URL/)
    expect(problems({ REDIS_URLS: 'three=redis://own' })).toMatch(/there is no database three/)
    expect(problems({ REDIS_URL: '' })).toMatch(/REDIS_URLS: requires REDIS_URL/)
  })

  it('takes previous encryption keys in addition to the present one, each of 32 bytes', () => {
    const both = readConfig({ ENCRYPTION_KEY: KEY, ENCRYPTION_KEY_PREVIOUS: `${KEY}, ${KEY}` })
    expect(both.encryptionKeysPrevious.map((key) => key.length)).toEqual([32, 32])
    const alone = 'ENCRYPTION_KEY_PREVIOUS: requires the present key in ENCRYPTION_KEY'
    expect(problemsOf({ ENCRYPTION_KEY_PREVIOUS: KEY })).toEqual([alone])
    const [problem] = problemsOf({ ENCRYPTION_KEY: KEY, ENCRYPTION_KEY_PREVIOUS: `${KEY},hunter2` })
    expect(problem).toMatch(/^ENCRYPTION_KEY_PREVIOUS.*: must be 32 bytes in base64$/)
  })

  it('bounds the references of a profile: 3 to 10 complete it, at least as many fill it, and all are compared with adaptive ones', () => {
    const of = (target: string, full: string) => ({ TARGET_REF_PATTERNS: target, FULL_REF_PATTERNS: full })
    expect(readConfig(of('3', '3')).targets).toEqual({ targetRefPatterns: 3, fullRefPatterns: 3 })
    expect(readConfig(of('10', '13')).targets).toEqual({ targetRefPatterns: 10, fullRefPatterns: 13 })
    for (const wrong of [of('2', '10'), of('11', '12'), of('5', '14'), of('7', '6'), of('4.5', '6')])
      expect([wrong, problemsOf(wrong).length]).toEqual([wrong, 1])
    const read = (file: string) => new Uint8Array(readFileSync(file))
    const { referencesMax } = createKernel(read(wasmFile()), read(modelFile()))
    expect(13 + ADAPTIVE_MAX).toBe(referencesMax)
  })

  it('serves metrics with the APIs, or on a separate port that must differ', () => {
    expect(readConfig({})).toMatchObject({ metricsAt: null, readyNeedsStores: false })
    expect(readConfig({ HOST: '::1', METRICS_PORT: '9100' }).metricsAt).toEqual({ host: '::1', port: 9100 })
    expect(problemsOf({ METRICS_PORT: '8080' })).toEqual(['METRICS_PORT: must be another port than PORT'])
  })

  it('names variables that look like its settings and are none', () => {
    const names = ['DATABSE_URL', 'redis_url', 'ENCRYPTION_KEY_FILES', 'KEYSTRIDE_FOO', 'METRICS_HOST']
    const env = Object.fromEntries(names.map((name) => [name, 'secret']))
    expect(unknownVariables(env)).toEqual([
      'DATABSE_URL is not a setting of Keystride: did you mean DATABASE_URL?',
      'ENCRYPTION_KEY_FILES is not a setting of Keystride: did you mean ENCRYPTION_KEY_FILE?',
      'KEYSTRIDE_FOO is not a setting of Keystride',
      'METRICS_HOST is not a setting of Keystride',
      'redis_url is not a setting of Keystride: did you mean REDIS_URL?',
    ])
    const known = [...configTable().map(({ name }) => name), 'DATABASE_URL_FILE', 'ENCRYPTION_KEY_FILE']
    const others = 'HOME PATH HOSTNAME SHELL LANG USER TERM PWD NODE_ENV REDIS_PORT DATABASE_HOST PGHOST NODE_OPTIONS'
    const kubernetes = 'KEYSTRIDE_SERVICE_HOST KEYSTRIDE_SERVICE_PORT_HTTP KEYSTRIDE_PORT KEYSTRIDE_PORT_8080_TCP_ADDR'
    const unnamed = [...known, ...others.split(' '), ...kubernetes.split(' ')]
    expect(unknownVariables(Object.fromEntries(unnamed.map((name) => [name, '1'])))).toEqual([])
  })

  it('builds links from PUBLIC_URL, without a slash at its end', () => {
    expect(readConfig({ PUBLIC_URL: 'https://typing.example/' }).publicUrl).toBe('https://typing.example')
  })
})
