import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Imports a module of test/ that has no run-time imports, by its name without extension (`trust/table`). */
export async function fromTests(name) {
  const { default: ts } = await import('typescript')
  const source = readFileSync(join(root, 'test', `${name}.ts`), 'utf8')
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  const target = join(root, 'build', `${name}.js`)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, ts.transpileModule(source, { compilerOptions }).outputText)
  return import(target)
}
