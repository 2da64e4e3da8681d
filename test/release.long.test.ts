import { execFileSync, spawnSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const script = fileURLToPath(new URL('../bin/release.mjs', import.meta.url))
const VERSION = '1.2.3'
const MANIFEST = { name: 'keystride', version: VERSION, files: ['build'], workspaces: ['packages/*'] }
const BUILD =
  "require('node:fs').mkdirSync('build', { recursive: true }); require('node:fs').writeFileSync('build/it', 'built')"

/** A repository of the same form, small enough to be released in seconds. */
const FILES: Record<string, string> = {
  'package.json': JSON.stringify({ ...MANIFEST, scripts: { build: 'node build.cjs' } }),
  'build.cjs': BUILD,
  'packages/agent/package.json': JSON.stringify({ name: '@keystride/agent', version: VERSION }),
  'bin/sbom.mjs': "process.stdout.write('{}')",
  'bin/monitoring.mjs': "process.stdout.write('{}')",
  'CHANGELOG.md': `# Changelog\n\n## [${VERSION}] - 2026-01-02\n\n- A change.\n`,
  '.gitignore': 'node_modules/\nbuild/\n',
  '.ci/run': '#!/bin/sh\n[ ! -e broken ]\n',
}

describe('npm run release', () => {
  const place = mkdtempSync(join(tmpdir(), 'keystride-release-test-'))
  const repository = join(place, 'repository')
  const at = (...parts: string[]) => join(place, ...parts)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], {
      cwd: repository,
      encoding: 'utf8',
    }).trim()
  const write = (name: string, text: string) => {
    mkdirSync(join(repository, name, '..'), { recursive: true })
    writeFileSync(join(repository, name), text, { mode: name === '.ci/run' ? 0o755 : 0o644 })
  }
  const commit = () => git('add', '--all') + git('commit', '--quiet', '--message', 'a change')
  function release(...args: string[]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
      cwd: repository,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }

  beforeAll(() => {
    for (const [name, text] of Object.entries(FILES)) write(name, text)
    git('init', '--quiet')
    execFileSync('npm', ['install', '--package-lock-only', '--offline', '--no-audit', '--no-fund'], { cwd: repository })
    commit()
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    writeFileSync(at('release.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    writeFileSync(at('release.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
    const { status, stdout, stderr } = release('--out', at('signed'), '--sign', at('release.key'))
    expect(status, stderr).toBe(0)
    expect(stdout).toContain(`npm publish "${at('signed')}/keystride-${VERSION}.tgz"`)
  })
  afterAll(() => rmSync(place, { recursive: true, force: true }))

  /** Copies the signed release, changes it and returns what `--verify` says. */
  function changed(change: (folder: string) => void, ...args: string[]) {
    const folder = mkdtempSync(at('changed-'))
    cpSync(at('signed'), folder, { recursive: true })
    change(folder)
    return release('--verify', folder, ...(args.length > 0 ? args : ['--key', at('release.pub')]))
  }

  it('makes the tarballs, the bill of materials, the dashboard, the sums and a signed provenance, which verify', () => {
    expect(readdirSync(at('signed')).sort()).toEqual([
      'SHA256SUMS',
      'keystride-1.2.3.cdx.json',
      'keystride-1.2.3.grafana.json',
      'keystride-1.2.3.tgz',
      'keystride-agent-1.2.3.tgz',
      'provenance.dsse.json',
    ])
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: at('signed'), stdio: 'ignore' })
    const { status, stdout } = release('--verify', at('signed'), '--key', at('release.pub'))
    expect(stdout).toMatch(/^4 files of version 1\.2\.3, commit [0-9a-f]{40}, are unchanged; signature valid for key/)
    expect(status).toBe(0)
  })

  it('signs an in-toto statement of SLSA v1 as DSSE says', () => {
    const { payload, payloadType, signatures } = JSON.parse(readFileSync(at('signed', 'provenance.dsse.json'), 'utf8'))
    const bytes = Buffer.from(payload, 'base64')
    const covered = Buffer.concat([Buffer.from(`DSSEv1 28 application/vnd.in-toto+json ${bytes.length} `), bytes])
    const key = createPublicKey(readFileSync(at('release.pub')))
    expect(payloadType).toBe('application/vnd.in-toto+json')
    expect(verify(null, covered, key, Buffer.from(signatures[0].sig, 'base64'))).toBe(true)
    const { _type, subject, predicateType, predicate } = JSON.parse(bytes.toString())
    expect([_type, predicateType]).toEqual(['https://in-toto.io/Statement/v1', 'https://slsa.dev/provenance/v1'])
    expect(subject).toHaveLength(4)
    expect(predicate.buildDefinition.resolvedDependencies).toEqual([
      { name: 'source', digest: { gitCommit: git('rev-parse', 'HEAD') } },
      { name: 'package-lock.json', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    ])
  })

  it('makes equal files of the same commit, whatever ignored files the checkout has', () => {
    write('build/stray', 'an ignored file')
    expect(release('--out', at('again'), '--sign', at('release.key')).status).toBe(0)
    for (const name of readdirSync(at('signed')))
      expect(readFileSync(at('again', name)).equals(readFileSync(at('signed', name))), name).toBe(true)
  })

  it('refuses to verify a changed, an added and an absent file, and one that is changed together with its sum', () => {
    const tarball = `keystride-${VERSION}.tgz`
    const both = (folder: string) => {
      appendFileSync(join(folder, tarball), 'x')
      const files = readdirSync(folder).filter((name) => name.startsWith('keystride-'))
      writeFileSync(join(folder, 'SHA256SUMS'), execFileSync('sha256sum', files, { cwd: folder }))
    }
    const cases: readonly (readonly [(folder: string) => void, RegExp])[] = [
      [
        (folder) => appendFileSync(join(folder, tarball), 'x'),
        /^keystride-1\.2\.3\.tgz has SHA-256 .* wanted by SHA256SUMS/,
      ],
      [(folder) => writeFileSync(join(folder, 'more.tgz'), ''), /^more\.tgz is not in SHA256SUMS/],
      [(folder) => rmSync(join(folder, tarball)), /^keystride-1\.2\.3\.tgz of SHA256SUMS is not in the folder/],
      [both, /wanted by the provenance is/],
    ]
    for (const [change, says] of cases)
      expect(changed(change)).toMatchObject({ status: 1, stderr: expect.stringMatching(says) })
  })

  it('refuses a provenance that another key signed, that was changed, or that is unsigned where a key is given', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    writeFileSync(at('other.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    writeFileSync(at('other.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
    expect(changed(() => {}, '--key', at('other.pub'))).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^no signature/),
    })
    const edited = (folder: string) => {
      const file = join(folder, 'provenance.dsse.json')
      const parsed = JSON.parse(readFileSync(file, 'utf8'))
      const payload = Buffer.from(parsed.payload, 'base64').toString().replace('"node": "v', '"node": "w')
      writeFileSync(file, JSON.stringify({ ...parsed, payload: Buffer.from(payload).toString('base64') }))
    }
    expect(changed(edited)).toMatchObject({ status: 1, stderr: expect.stringMatching(/^no signature/) })
    const { status, stdout } = release('--out', join('..', 'unsigned'))
    expect([status, stdout]).toEqual([0, expect.stringContaining('UNSIGNED')])
    expect(stdout).toContain(`npm publish "${at('unsigned')}/keystride-${VERSION}.tgz"`)
    expect(release('--verify', at('unsigned'))).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('UNSIGNED'),
    })
    expect(release('--verify', at('unsigned'), '--key', at('release.pub'))).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/the release is unsigned, wanted is a signature/),
    })
  })

  it('refuses a dirty tree, an undated version, a package of another version, a used tag and failing checks', () => {
    const refused = (says: RegExp) => {
      expect(release('--out', at('refused'))).toMatchObject({ status: 1, stderr: expect.stringMatching(says) })
      git('reset', '--quiet', '--hard', 'released')
      git('clean', '--quiet', '-fd')
    }
    git('tag', 'released')
    write('README.md', 'new')
    refused(/^the checkout has changes that are not committed:\n\?\? README\.md/)
    write('CHANGELOG.md', `## [Unreleased]\n`)
    commit()
    expect(release('--out', at('tried'), '--dry-run')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^a release would be refused: CHANGELOG[\s\S]*A dry run: do not publish/),
    })
    refused(/^CHANGELOG\.md has no section "## \[1\.2\.3\] - YYYY-MM-DD"/)
    write('packages/agent/package.json', JSON.stringify({ name: '@keystride/agent', version: '1.2.2' }))
    commit()
    refused(/^packages\/agent has version 1\.2\.2, wanted 1\.2\.3/)
    git('tag', `v${VERSION}`)
    write('README.md', 'new')
    commit()
    refused(/^the tag v1\.2\.3 names another commit/)
    git('tag', '--delete', `v${VERSION}`)
    write('broken', '')
    commit()
    refused(/the checks \(\.ci\/run\) ended with status 1/)
    expect(readdirSync(place)).not.toContain('refused')
  })
})
