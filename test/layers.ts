/** The allowed imports of a layer: layers by folder, packages by name. The longest matching folder applies. */
export interface Layer {
  readonly layers: readonly string[]
  readonly packages: readonly string[]
}
/** Each layer by its folder or file. A layer that may import `src/domain` may import `src/base`. */
export const LAYERS: Record<string, Layer> = {
  assembly: { layers: ['assembly'], packages: [] },
  'src/base': { layers: ['src/base'], packages: ['zod'] },
  'src/domain': { layers: ['src/domain'], packages: ['zod'] },
  'src/storage': { layers: ['src/storage', 'src/domain'], packages: [] },
  'src/storage/crypto/code-hash-argon2.ts': { layers: ['src/storage', 'src/domain'], packages: ['piscina'] },
  'src/storage/crypto/code-hash-thread.ts': { layers: ['src/storage', 'src/domain'], packages: ['@node-rs/argon2'] },
  'src/storage/geography-files.ts': { layers: ['src/storage', 'src/domain'], packages: ['mmdb-lib'] },
  'src/storage/postgres/connection/sql.ts': { layers: ['src/storage', 'src/domain'], packages: ['postgres'] },
  'src/storage/postgres/embedded/embedded-running.ts': {
    layers: ['src/storage', 'src/domain'],
    packages: ['postgres'],
  },
  'src/storage/postgres/move/copy-rows.ts': { layers: ['src/storage', 'src/domain'], packages: ['pg-copy-streams'] },
  'src/storage/postgres/connection/with-client.ts': { layers: ['src/storage', 'src/domain'], packages: ['pg'] },
  'src/storage/postgres/insight/job-queue.ts': { layers: ['src/storage', 'src/domain'], packages: ['pg-boss'] },
  'src/storage/redis': { layers: ['src/storage', 'src/domain'], packages: ['@redis/client'] },
  'src/scoring': { layers: ['src/scoring', 'src/domain'], packages: ['piscina'] },
  'src/scoring/user-agent.ts': { layers: ['src/scoring', 'src/domain'], packages: ['bowser'] },
  'src/calibration': { layers: ['src/calibration', 'src/scoring', 'src/domain'], packages: [] },
  'src/flows': { layers: ['src/flows', 'src/domain', 'src/storage', 'src/scoring'], packages: [] },
  'src/flows/attempt': {
    layers: ['src/flows', 'src/domain', 'src/storage', 'src/scoring'],
    packages: ['lru-cache', 'uuid'],
  },
  'src/http': { layers: ['src/http', 'src/domain'], packages: ['zod', 'prom-client'] },
  'src/api': {
    layers: ['src/api', 'src/domain', 'src/flows', 'src/http', 'src/storage', 'src/web'],
    packages: ['zod'],
  },
  'src/sso': {
    layers: ['src/sso', 'src/domain', 'src/flows', 'src/jobs', 'src/storage', 'src/web', 'packages/client'],
    packages: ['oidc-provider', 'jose', 'openid-client', 'uuid', 'zod'],
  },
  'src/sso/directory/ldap.ts': { layers: ['src/sso', 'src/domain'], packages: ['ldapts'] },
  'src/web': { layers: ['src/web', 'src/domain', 'texts'], packages: [] },
  'src/web/browser': { layers: ['src/web/browser'], packages: ['@keystride/recorder'] },
  'src/console': {
    layers: ['src/console', 'src/typist', 'texts'],
    packages: ['preact', '@preact/signals', 'uplot', 'uqr'],
  },
  'src/jobs': { layers: ['src/jobs', 'src/domain', 'src/storage', 'src/flows'], packages: ['csv-stringify', 'yazl'] },
  'src/jobs/channels': { layers: ['src/jobs', 'src/domain', 'src/storage', 'src/flows'], packages: ['nodemailer'] },
  'src/process': {
    layers: ['src/process', 'src/domain', 'src/http', 'src/scoring', 'src/storage'],
    packages: ['uuid', 'zod'],
  },
  'src/metrics': {
    layers: ['src/metrics', 'src/domain', 'src/storage', 'src/scoring', 'src/flows'],
    packages: ['prom-client'],
  },
  'src/tracing': {
    layers: ['src/tracing', 'src/domain', 'src/http'],
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/core',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
    ],
  },
  'src/capacity': { layers: ['src/capacity', 'src/domain'], packages: ['zod'] },
  'src/demo': { layers: ['src/demo', 'src/domain', 'src/flows', 'src/storage', 'src/typist'], packages: [] },
  'src/typist': { layers: ['src/typist'], packages: [] },
  'src/wiring': { layers: ['src'], packages: ['prom-client', 'uuid'] },
  'src/cli': { layers: ['src'], packages: ['commander', 'uuid', 'zod'] },
  src: { layers: ['src'], packages: [] },
  'packages/recorder': { layers: ['packages/recorder'], packages: [] },
  'packages/agent': { layers: ['packages/agent'], packages: [] },
  'packages/client': { layers: ['packages/client'], packages: [] },
}
/**
 * The modules (folders) of a layer, each with the modules of the same layer that it may import. The modules of flows are a
 * stack: each may import only those before it in `FLOW_MODULES`.
 */
const FLOW_MODULES = ['process', 'organization', 'session', 'attempt', 'account', 'profile', 'legacy'] as const
export const MODULES: Record<string, readonly string[]> = {
  ...Object.fromEntries(
    FLOW_MODULES.map((module, at) => [
      `src/flows/${module}`,
      FLOW_MODULES.slice(0, at).map((below) => `src/flows/${below}`),
    ]),
  ),
  'src/base': [],
  'src/domain': ['src/domain/context', 'src/domain/words'],
  'src/domain/context': [],
  'src/domain/words': [],
  'src/http': ['src/http/intake'],
  'src/http/intake': [],
  'src/http/docs': ['src/http'],
  'src/api': ['src/api/core', 'src/api/core/legacy', 'src/api/dashboard', 'src/api/links'],
  'src/api/core': [],
  'src/api/core/legacy': ['src/api/core'],
  'src/api/dashboard': [],
  'src/api/links': ['src/api/core'],
  'src/sso': ['src/sso/directory'],
  'src/sso/directory': ['src/sso'],
  'src/web': ['src/web/browser'],
  'src/web/browser': [],
  'src/console': ['src/console/pages', 'src/console/parts'],
  'src/console/pages': ['src/console', 'src/console/parts'],
  'src/console/parts': ['src/console'],
  'src/jobs': [],
  'src/jobs/channels': [],
  'src/flows/insight': [],
  'src/flows/alert': [],
  'src/storage': [],
  'src/storage/crypto': ['src/storage'],
  'src/storage/redis': ['src/storage'],
  'src/storage/postgres/connection': ['src/storage'],
  'src/storage/postgres/embedded': [],
  'src/storage/postgres/insight': ['src/storage', 'src/storage/postgres/connection'],
  'src/storage/postgres/sso': ['src/storage', 'src/storage/postgres/connection'],
  'src/storage/postgres/organization': ['src/storage', 'src/storage/postgres/connection'],
  'src/storage/postgres/schema': [
    'src/storage',
    'src/storage/postgres/connection',
    'src/storage/postgres/embedded',
    'src/storage/postgres/insight',
  ],
  'src/storage/postgres/move': ['src/storage', 'src/storage/postgres/connection', 'src/storage/postgres/schema'],
  'src/storage/postgres/inspection': ['src/storage', 'src/storage/postgres/connection', 'src/storage/postgres/schema'],
  'src/storage/postgres/person': [
    'src/storage',
    'src/storage/postgres/connection',
    'src/storage/postgres/insight',
    'src/storage/postgres/schema',
  ],
  'src/storage/postgres/attempt': ['src/storage', 'src/storage/postgres/connection', 'src/storage/postgres/person'],
}
/** Layers that consist of modules: no file may be outside a module. */
export const DIVIDED = [
  'src/api',
  'src/base',
  'src/console',
  'src/domain',
  'src/flows',
  'src/http',
  'src/jobs',
  'src/sso',
  'src/storage',
  'src/web',
]
