#!/usr/bin/env node
// Writes the types of @keystride/client from the built route tables: packages/client/schema, one file an API. The build runs it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import openapiTypes, { astToString } from 'openapi-typescript'
import { coreGroups, coreRoutes } from '../build/src/api/core-table.js'
import { dashboardGroups, dashboardRoutes } from '../build/src/api/dashboard-table.js'
import { linkGroups, linkRoutes } from '../build/src/api/links-table.js'
import { openApiDocument } from '../build/src/http/docs/openapi.js'

const APIS = {
  core: { basePath: '/core', scope: 'core', title: '', groups: coreGroups, routes: coreRoutes },
  links: { basePath: '/auth', scope: 'links', title: '', groups: linkGroups, routes: linkRoutes },
  dashboard: {
    basePath: '/dashboard',
    scope: 'dashboard',
    title: '',
    groups: dashboardGroups,
    routes: dashboardRoutes,
  },
}
const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'packages/client/schema')
mkdirSync(folder, { recursive: true })
for (const [name, api] of Object.entries(APIS)) {
  const document = openApiDocument(api, { version: '', baseUrl: 'https://localhost' })
  // A body may omit a field with a default.
  writeFileSync(join(folder, `${name}.ts`), astToString(await openapiTypes(document, { defaultNonNullable: false })))
}
