import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parseAllDocuments } from 'yaml'

// biome-ignore lint/suspicious/noExplicitAny: test/deploy/kubernetes.test.ts checks the documents by the types of Kubernetes
export type Document = any

/** The documents of a text. Fails if a parser of YAML 1.1, which kubectl uses, and one of YAML 1.2 disagree. */
export function parsed(text: string): Document[] {
  const [older, newer] = (['1.1', '1.2'] as const).map((version) =>
    parseAllDocuments(text, { version, strict: true }).map((document) => {
      expect(document.errors).toEqual([])
      return document.toJS()
    }),
  )
  expect(older).toEqual(newer)
  return newer ?? []
}

const isMap = (value: Document): boolean => value !== null && typeof value === 'object' && !Array.isArray(value)

/** Strategic merge: maps by key, lists of named maps by name with new ones first, everything else replaced. */
function merged(value: Document, patch: Document): Document {
  if (Array.isArray(value) && Array.isArray(patch) && [...value, ...patch].every((one) => one.name !== undefined)) {
    const other = (list: Document[], name: string) => list.find((one) => one.name === name)
    const added = patch.filter(({ name }) => other(value, name) === undefined)
    const kept = value.filter(({ name }) => other(patch, name)?.$patch !== 'delete')
    return [...added, ...kept.map((one) => merged(one, other(patch, one.name) ?? {}))]
  }
  if (!isMap(value) || !isMap(patch)) return structuredClone(patch)
  const changed = Object.entries(patch).map(([key, change]) => [key, merged(value[key], change)])
  return { ...value, ...Object.fromEntries(changed) }
}

/**
 * Renders a folder as `kubectl kustomize` does, in the order of its resources. It knows resources, images by newName, and patches as
 * strategic merge, by a target or by their own kind and name. Anything else in a kustomization.yaml throws.
 */
export function rendered(folder: string): Document[] {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  const [{ apiVersion: _, kind: _kind, resources, patches = [], images = [], ...unknown }] = parsed(
    read('kustomization.yaml'),
  )
  if (Object.keys(unknown).length > 0) throw new Error(`${folder}: ${Object.keys(unknown).join()} is not supported`)
  let documents: Document[] = resources.flatMap((name: string) =>
    name.endsWith('.yaml') ? parsed(read(name)) : rendered(join(folder, name)),
  )
  for (const { path, patch, target } of patches) {
    const [change] = parsed(path === undefined ? patch : read(path))
    const { kind, name } = target ?? { kind: change.kind, name: change.metadata.name }
    const takes = (one: Document) =>
      (kind ?? one.kind) === one.kind && (name ?? one.metadata.name) === one.metadata.name
    if (!documents.some(takes)) throw new Error(`${folder}: no document for a patch of ${kind} ${name}`)
    const { apiVersion: _version, kind: _changed, metadata: _metadata, $patch, ...rest } = change
    documents = documents.flatMap((one) => (!takes(one) ? one : $patch === 'delete' ? [] : merged(one, rest)))
  }
  for (const { name, newName } of images)
    for (const container of documents.flatMap(({ spec }) => spec?.template?.spec.containers ?? []))
      container.image = container.image.replace(new RegExp(`^${name}(?=:)`), newName)
  return documents
}
