import { STATUS_CODES } from 'node:http'
import type { z } from 'zod'
import type { Outcomes, Route } from '../route.js'
import type { Api } from '../server-types.js'
import type { About } from './openapi.js'
import { recordedReply } from './openapi.js'
import {
  bodySchemaOf,
  documentedPath,
  fileTypeOf,
  headerParametersOf,
  type JsonSchema,
  jsonSchemaOf,
  type Parameter,
  parametersOf,
  refusalMeanings,
  refusalsOf,
} from './route-docs.js'
import { fieldLines, membersOf, sampleOf, typeText } from './schema-text.js'

/** An endpoint as a folded section in HTML. The id is inside the section, so that a browser unfolds it for a link to the id. */
export function endpoint<S>(api: Api<S>, row: Route<S>, id: string, about: About): string {
  const needs = [
    ...(row.deprecated === undefined ? [] : [`deprecated, served until ${dayOf(row.deprecated.sunset)} at least`]),
    row.needsKey ? 'needs a key' : 'needs no key',
    ...(row.needsSession ? ['needs X-Service-Session'] : row.takesSession ? ['takes X-Service-Session'] : []),
    `counted as ${row.countedAs}`,
  ]
  return `<article><details><summary><h3>${escaped(row.summary)}</h3>
<span class="line">${verb(row)}<span class="path">${escaped(documentedPath(row))}</span></span></summary><div id="${id}" class="body">
<p class="needs">${needs.join(' · ')}</p>
${row.description === undefined ? '' : `<p>${escaped(row.description)}</p>`}
${row.outcomes === undefined ? '' : outcomeTable(row.outcomes)}
${parameterTable([...parametersOf(row), ...headerParametersOf(row)])}
${bodySection(row)}
${Object.entries(row.replies)
  .map(([status, reply]) => replySection(status, reply, recordedReply(about, api, row, status)))
  .join('')}
${refusalTable(row)}
<h4>Example</h4><pre><code>${escaped(curlOf(row, about))}</code></pre></div></details></article>`
}

const dayOf = (date: Date) => date.toISOString().slice(0, 10)

function parameterTable(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(({ name, required, schema, in: where }) => {
    const note = fieldLines({ properties: { [name]: schema } })[0]?.note ?? ''
    return fieldRow(name, typeText(schema), required, note === '' ? `in the ${where}` : `in the ${where}; ${note}`)
  })
  return `<h4>Parameters</h4>${table(['Name', 'Type', 'Meaning'], rows)}`
}

function bodySection<S>(row: Route<S>): string {
  const schema = bodySchemaOf(row.body)
  if (schema === null) return ''
  const optional = row.body.kind === 'json' && row.body.optional ? ', optional' : ''
  const cap = 'maxBytes' in row.body ? `, at most ${Math.floor(row.body.maxBytes / 1024)} KiB` : ''
  const described = [schema, ...membersOf(schema)].find(({ description }) => description !== undefined)?.description
  const note = described === undefined ? '' : `<p>${escaped(described)}</p>`
  return `<h4>Body${optional}${cap}</h4>${note}${fieldTable(schema)}`
}

function replySection(status: string, reply: z.ZodType, example: unknown): string {
  const heading = `<h4>Reply ${status} ${STATUS_CODES[status] ?? ''}</h4>`
  const fileType = fileTypeOf(reply)
  if (fileType !== null)
    return `${heading}<p>A file of type <code>${escaped(fileType)}</code>, without an envelope.</p>`
  const schema = jsonSchemaOf(reply, 'output')
  const fields = fieldLines(schema).length === 0 ? '<p>Only the envelope.</p>' : fieldTable(schema)
  if (example === undefined) return heading + fields
  const json = escaped(JSON.stringify(example, null, 2))
  return `${heading}${fields}<details class="answer"><summary>Example answer</summary><pre><code>${json}</code></pre></details>`
}

/** The table of actions that a client takes on an answer; text between backticks is code. */
function outcomeTable({ lead, heads, rows }: Outcomes): string {
  const cell = (text: string) => `<td>${escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')}</td>`
  const lines = rows.map((cells) => `<tr>${cells.map(cell).join('')}</tr>`)
  return `<h4>Act on the answer</h4><p>${escaped(lead)}</p><div class="outcomes">${table(heads, lines)}</div>`
}

function fieldTable(schema: JsonSchema): string {
  const lines = fieldLines(schema)
  if (lines.length === 0) return `<p class="type">${escaped(typeText(schema))}</p>`
  return table(
    ['Field', 'Type', 'Meaning'],
    lines.map(({ name, type, required, note }) => fieldRow(name, type, required, note)),
  )
}

function refusalTable<S>(row: Route<S>): string {
  const rows = refusalsOf(row).map(
    ({ status, reason, kind }) =>
      `<tr><td>${status}</td><td>${reason === null ? '' : `<code>${reason}</code>`}</td><td>${escaped(refusalMeanings[kind])}</td></tr>`,
  )
  return `<h4>Refusals</h4>${table(['Status', 'Reason', 'When'], rows)}`
}

function fieldRow(name: string, type: string, required: boolean, note: string): string {
  const must = required ? '<span class="must">required</span>' : ''
  return `<tr><td><code>${escaped(name)}</code>${must}</td><td class="type">${escaped(type)}</td><td>${escaped(note)}</td></tr>`
}

function table(heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join('')
  return `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

export function verb<S>(row: Route<S>): string {
  return `<span class="verb ${row.method}${row.deprecated === undefined ? '' : ' gone'}">${row.method}</span>`
}

/** A command to copy. The key is a shell variable, so that it does not get into the shell history. */
function curlOf<S>(row: Route<S>, about: About): string {
  const path = documentedPath(row).replace(/\{([^}]+)\}/g, (_, name: string) =>
    /ref$/i.test(name) ? 'ann' : `<${name}>`,
  )
  const parts = [`curl${row.method === 'get' ? '' : ` -X ${row.method.toUpperCase()}`} '${about.baseUrl}${path}'`]
  if (row.needsKey) parts.push(`-H "apikey: $KEYSTRIDE_KEY"`)
  if (row.needsSession) parts.push(`-H "X-Service-Session: $SESSION"`)
  const schema = bodySchemaOf(row.body)
  if (schema !== null && row.body.kind !== 'bytes') {
    const sample = JSON.stringify(sampleOf(schema))
    parts.push(`-H 'Content-Type: application/json'`, `-d '${sample.replaceAll("'", "'\\''")}'`)
  }
  if (row.body.kind === 'bytes') parts.push(`-H 'Content-Type: application/json'`, '--data-binary @pattern.json')
  return parts.join(' \\\n  ')
}

export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
