// The two overlays of deploy/kubernetes: what differs between them.
import { autoscaler, migration, secretExample, settings, workload } from './kubernetes.mjs'

/**
 * The files of each overlay that are not those of base, by name.
 * @param {{ image: string, version: string, table: { name: string, fallback: string, meaning: string }[] }} facts
 */
export function overlays({ image, version, table }) {
  const common = { 'settings.yaml': settings(table), 'migrate.yaml': migration({ image, version }) }
  return {
    small: {
      ...common,
      'secret.yaml.example': secretExample({
        databaseUrl: 'postgres://keystride:PASSWORD@postgresql.stores.svc:5432/keystride',
        redisUrl: 'redis://redis.stores.svc:6379',
      }),
      'keystride.yaml': workload({
        name: 'keystride',
        note: 'Two pods that do everything: APIs, pages and background jobs.',
        image,
        roles: null,
        replicas: 2,
        cpu: '500m',
      }),
    },
    production: {
      ...common,
      'secret.yaml.example': secretExample({
        databaseUrl: 'postgres://keystride:PASSWORD@pgbouncer.stores.svc:6432/keystride',
        redisUrl:
          'redis://redis-0.redis.stores.svc:6379,redis://redis-1.redis.stores.svc:6379,redis://redis-2.redis.stores.svc:6379',
      }),
      'keystride.yaml':
        workload({
          name: 'keystride',
          note: 'The pods that answer requests.',
          image,
          roles: 'core,links,dashboard',
          replicas: null,
          cpu: '"1"',
        }) + autoscaler({ name: 'keystride', least: 3, most: 12 }),
      'jobs.yaml': workload({
        name: 'keystride-jobs',
        note: 'The pods of background jobs: alerts, exports, retention. One of them does each job; the second is for its absence.',
        image,
        roles: 'jobs',
        replicas: 2,
        cpu: '100m',
      }),
    },
  }
}
