#!/usr/bin/env node
// `npm run release -- --help`: makes the files of a release from the current commit, and verifies them. It publishes nothing.
import { spawnSync } from 'node:child_process'
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const HELP = `usage: npm run release -- --out FOLDER [--sign FILE] [--dry-run]
       npm run release -- --verify FOLDER [--key FILE]

Makes the files of a release from the current commit: the tarballs of the server and of each package, the bill of materials, the dashboard
for Grafana, SHA256SUMS, and the provenance (in-toto statement, SLSA v1). Refuses changes that are not committed, a version without a
dated section in CHANGELOG.md, and a commit whose checks (.ci/run) fail. Publishes nothing: it prints the commands that do.

  --out FOLDER     a new folder for the files
  --sign FILE      Ed25519 private key in PEM that signs the provenance (DSSE envelope); without it the release is unsigned
  --dry-run        continues where a release would be refused, and runs no checks
  --verify FOLDER  compares every file with SHA256SUMS and the provenance
  --key FILE       Ed25519 public key in PEM: the signature is verified too, and an unsigned release is refused

Keys: openssl genpkey -algorithm ed25519 -out release.key; openssl pkey -in release.key -pubout -out release.pub`

const SUMS = 'SHA256SUMS'
const UNSIGNED = 'provenance.intoto.json'
const SIGNED = 'provenance.dsse.json'
const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

/** A reason to stop that the reader can correct. */
class Refused extends Error {}

const say = (line) => process.stdout.write(`${line}\n`)
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

try {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      sign: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      verify: { type: 'string' },
      key: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) say(HELP)
  else if (values.verify !== undefined) verifyRelease(values.verify, values.key)
  else if (values.out !== undefined) makeRelease(values)
  else throw new Refused(`--out or --verify is missing\n\n${HELP}`)
} catch (error) {
  if (!(error instanceof Refused) && !String(error.code).startsWith('ERR_PARSE_ARGS')) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

function makeRelease({ out: folder, sign: keyFile, 'dry-run': dry }) {
  // npm takes `folder/file.tgz` for a repository of GitHub; an absolute path is a file.
  const out = resolve(folder)
  const root = git(process.cwd(), 'rev-parse', '--show-toplevel')
  const { version } = manifestOf(root)
  const commit = git(root, 'rev-parse', 'HEAD')
  const key = keyFile === undefined ? null : privateKey(keyFile)
  if (existsSync(out) && readdirSync(out).length > 0) throw new Refused(`${out} has files: name a new folder`)
  const objections = objectionsTo(root, version)
  if (objections.length > 0 && !dry) throw new Refused(objections.join('\n'))
  for (const objection of objections) say(`a release would be refused: ${objection}`)

  const place = mkdtempSync(join(tmpdir(), 'keystride-release-'))
  try {
    mkdirSync(out, { recursive: true })
    const clone = join(place, 'clone')
    build({ root, clone, commit, dry })
    pack(clone, out, version)
    const text = JSON.stringify(statement({ clone, commit, version, files: filesIn(out) }), null, 2)
    writeFileSync(join(out, SUMS), sumsOf(filesIn(out)))
    if (key === null) writeFileSync(join(out, UNSIGNED), `${text}\n`)
    else writeFileSync(join(out, SIGNED), `${JSON.stringify(envelope(text, key), null, 2)}\n`)
  } catch (error) {
    rmSync(out, { recursive: true, force: true })
    throw error
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
  report({ out, version, commit, signed: key !== null, dry })
}

/** Reasons why this checkout cannot be released. */
function objectionsTo(root, version) {
  const found = []
  const changes = git(root, 'status', '--porcelain')
  if (changes !== '') found.push(`the checkout has changes that are not committed:\n${changes}`)
  const dated = new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}$`, 'm')
  if (!dated.test(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')))
    found.push(`CHANGELOG.md has no section "## [${version}] - YYYY-MM-DD"`)
  for (const name of readdirSync(join(root, 'packages'))) {
    const folder = join(root, 'packages', name)
    if (!existsSync(join(folder, 'package.json'))) continue
    const { version: other } = manifestOf(folder)
    if (other !== version) found.push(`packages/${name} has version ${other}, wanted ${version}`)
  }
  const tagged = spawnSync('git', ['rev-parse', '--verify', '--quiet', `refs/tags/v${version}^{commit}`], { cwd: root })
  const at = tagged.stdout.toString().trim()
  if (at !== '' && at !== git(root, 'rev-parse', 'HEAD'))
    found.push(`the tag v${version} names another commit, ${at}: choose a new version`)
  return found
}

/** Builds the commit in a clone, where no ignored or untracked file of the checkout can get into a tarball. */
function build({ root, clone, commit, dry }) {
  run(root, 'git', 'clone', '--quiet', '--no-checkout', root, clone)
  run(clone, 'git', 'checkout', '--quiet', '--detach', commit)
  if (!dry) check(clone)
  // The checks leave files.
  run(clone, 'git', 'clean', '--quiet', '-dfx', '--exclude', 'node_modules')
  run(clone, 'npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error')
  run(clone, 'npm', 'run', '--silent', 'build')
}

function check(clone) {
  const { status, signal, error } = spawnSync(join(clone, '.ci/run'), { cwd: clone, stdio: ['ignore', 2, 2] })
  if (error) throw error
  if (status !== 0) throw new Refused(`the checks (.ci/run) ended with ${signal ?? `status ${status}`}`)
}

function pack(clone, out, version) {
  run(clone, 'npm', 'pack', '--silent', '--include-workspace-root', '--workspaces', '--pack-destination', out)
  const bill = run(clone, process.execPath, join(clone, 'bin/sbom.mjs'))
  writeFileSync(join(out, `keystride-${version}.cdx.json`), bill)
  const dashboard = run(clone, process.execPath, join(clone, 'bin/monitoring.mjs'), 'dashboard')
  writeFileSync(join(out, `keystride-${version}.grafana.json`), dashboard)
}

/** The files of a release by name, without the sums and the provenance. */
function filesIn(folder) {
  const names = readdirSync(folder).filter((name) => ![SUMS, UNSIGNED, SIGNED].includes(name))
  return new Map(names.sort().map((name) => [name, readFileSync(join(folder, name))]))
}

function sumsOf(files) {
  return [...files].map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`).join('')
}

/** The provenance. It has no times, so that two runs on one commit are equal. */
function statement({ clone, commit, version, files }) {
  const lock = readFileSync(join(clone, 'package-lock.json'))
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...files].map(([name, bytes]) => ({ name, digest: { sha256: sha256(bytes) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:keystride:release:1',
        externalParameters: { commit, version },
        internalParameters: {
          node: process.version,
          npm: run(clone, 'npm', '--version').trim(),
          platform: `${process.platform}-${process.arch}`,
        },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: sha256(lock) } },
        ],
      },
      runDetails: { builder: { id: 'urn:keystride:builder:bin/release.mjs' } },
    },
  }
}

/** The bytes that a DSSE signature covers. */
function signedBytes(payload) {
  return Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload])
}

function envelope(text, key) {
  const payload = Buffer.from(text)
  const keyid = keyId(createPublicKey(key))
  const signatures = [{ keyid, sig: sign(null, signedBytes(payload), key).toString('base64') }]
  return { payload: payload.toString('base64'), payloadType: PAYLOAD_TYPE, signatures }
}

function keyId(key) {
  return sha256(key.export({ type: 'spki', format: 'der' }))
}

function privateKey(file) {
  const key = createPrivateKey(readFileSync(file))
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Refused(`${file} has a key of ${key.asymmetricKeyType}, wanted ed25519`)
  return key
}

function report({ out, version, commit, signed, dry }) {
  say(`\n${[...filesIn(out).keys(), SUMS, signed ? SIGNED : UNSIGNED].map((name) => join(out, name)).join('\n')}\n`)
  say(signed ? `The provenance is signed (${SIGNED}).` : 'UNSIGNED: --sign names a key.')
  if (dry) return say('A dry run: do not publish these files.')
  say('\nPublish with:\n')
  say(`  git tag v${version} ${commit} && git push origin v${version}`)
  // The packages are published first, because the server's documents refer to them.
  const tarballs = [...filesIn(out).keys()].filter((name) => name.endsWith('.tgz'))
  const isServer = (name) => name === `keystride-${version}.tgz`
  for (const name of [...tarballs.filter((one) => !isServer(one)), ...tarballs.filter(isServer)])
    say(`  npm publish "${join(out, name)}" --access public`)
  say(`\nThen set version and commit in test/upgrade/previous-version.json to ${version} and ${commit}.`)
}

function verifyRelease(folder, keyFile) {
  const files = filesIn(folder)
  const sums = readFileSync(join(folder, SUMS), 'utf8')
  const wanted = new Map(
    sums
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  ').reverse()),
  )
  compare(wanted, files, SUMS)
  const { text, signed } = provenanceOf(folder, keyFile)
  const { subject, predicate } = JSON.parse(text)
  compare(new Map(subject.map(({ name, digest }) => [name, digest.sha256])), files, 'the provenance')
  const { commit, version } = predicate.buildDefinition.externalParameters
  say(`${files.size} files of version ${version}, commit ${commit}, are unchanged; ${signed}`)
}

/** `wanted` is SHA-256 by name. */
function compare(wanted, files, by) {
  for (const [name, bytes] of files) {
    const found = sha256(bytes)
    const listed = wanted.get(name)
    if (listed === undefined) throw new Refused(`${name} is not in ${by}`)
    if (found !== listed) throw new Refused(`${name} has SHA-256 ${found}, wanted by ${by} is ${listed}`)
  }
  const missing = [...wanted.keys()].filter((name) => !files.has(name))
  if (missing.length > 0) throw new Refused(`${missing.join(', ')} of ${by} is not in the folder`)
}

/** The statement as text, and the state of its signature. With a key, only a signature by that key is accepted. */
function provenanceOf(folder, keyFile) {
  if (!existsSync(join(folder, SIGNED))) {
    if (keyFile !== undefined)
      throw new Refused(`${folder} has no ${SIGNED}: the release is unsigned, wanted is a signature`)
    return { text: readFileSync(join(folder, UNSIGNED), 'utf8'), signed: 'UNSIGNED' }
  }
  const { payload, payloadType, signatures } = JSON.parse(readFileSync(join(folder, SIGNED), 'utf8'))
  if (payloadType !== PAYLOAD_TYPE)
    throw new Refused(`${SIGNED} has payload type ${payloadType}, wanted ${PAYLOAD_TYPE}`)
  const bytes = Buffer.from(payload, 'base64')
  if (keyFile === undefined)
    return { text: bytes.toString(), signed: 'signature NOT VERIFIED: --key names the public key' }
  const key = createPublicKey(readFileSync(keyFile))
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Refused(`${keyFile} has a key of ${key.asymmetricKeyType}, wanted ed25519`)
  const isValid = ({ sig }) => verify(null, signedBytes(bytes), key, Buffer.from(sig, 'base64'))
  if (!signatures.some(isValid))
    throw new Refused(`no signature of ${SIGNED} is valid for the key in ${basename(keyFile)}`)
  return { text: bytes.toString(), signed: `signature valid for key ${keyId(key)}` }
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function git(cwd, ...args) {
  return run(cwd, 'git', ...args).trimEnd()
}

/** Runs a command and returns its output; its errors go to the terminal. */
function run(cwd, command, ...args) {
  const { status, signal, error, stdout } = spawnSync(command, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
    encoding: 'utf8',
  })
  if (error) throw error
  if (status === 0) return stdout
  process.stderr.write(stdout.split('\n').slice(-40).join('\n'))
  throw new Refused(`${basename(command)} ${args.join(' ')} ended with ${signal ?? `status ${status}`}`)
}
