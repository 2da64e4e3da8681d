import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { atMost } from '../base/at-most.js'
import { Refusal } from '../domain/refusal.js'
import type { Answered, BegunRequest } from '../http/server-types.js'

interface TracingOptions {
  /** Base URL of an OTLP/HTTP collector; traces go to `/v1/traces` below it. */
  readonly endpoint: string
  /** Share of the requests without a trace of their caller that are traced, 0 to 1. */
  readonly ratio: number
  readonly version: string
  /** Name of this process among those of the deployment. */
  readonly instance: string
  readonly basePathOf: (api: Answered['api']) => string
  /** Called for each batch that the collector did not take. The batch is lost. */
  readonly onError: (error: Error) => void
}

export interface Tracing {
  /** The server calls this as `traced`: runs `handle` within a span of the request. */
  within(request: BegunRequest, handle: () => void): void
  /** The server calls this as `onAnswer`: ends the span of the request. */
  onAnswer(answered: Answered): void
  /** Wraps a part so that each method that returns a promise has a span `name.method` within a traced request. */
  steps<T extends object>(name: string, part: T): T
  /** Sends the remaining spans, for a second at most. */
  stop(): Promise<void>
}

const STOP_WITHIN_MS = 1000

/**
 * Traces requests by OpenTelemetry: one span a request, and one below it for each step. The caller's W3C trace context is
 * continued, and its decision to sample is kept. Spans contain route templates, names of steps and outcomes, and nothing
 * that names a person. Uses no global of OpenTelemetry.
 */
export function startTracing(options: TracingOptions): Tracing {
  const provider = createProvider(options)
  const tracer = provider.getTracer('keystride', options.version)
  const propagator = new W3CTraceContextPropagator()
  const current = new AsyncLocalStorage<Span>()
  const open = new Map<string, Span>()

  const contextOf = ({ headers }: BegunRequest): Context => {
    const given = { traceparent: headers.get('traceparent'), tracestate: headers.get('tracestate') }
    return given.traceparent === undefined
      ? ROOT_CONTEXT
      : propagator.extract(ROOT_CONTEXT, given, defaultTextMapGetter)
  }

  function step<A extends unknown[], R>(name: string, call: (...args: A) => R): (...args: A) => R {
    return (...args) => {
      const request = current.getStore()
      if (request === undefined) return call(...args)
      const span = tracer.startSpan(name, {}, trace.setSpan(ROOT_CONTEXT, request))
      const result = call(...args)
      // A span that is not ended is not sent.
      if (result instanceof Promise)
        result.then(
          () => span.end(),
          (error: unknown) => endFailed(span, error),
        )
      return result
    }
  }

  return {
    within(request, handle) {
      const attributes = { 'http.request.method': request.method, 'keystride.request_id': request.requestId }
      const span = tracer.startSpan(request.method, { kind: SpanKind.SERVER, attributes }, contextOf(request))
      if (!span.isRecording()) {
        handle()
        return
      }
      open.set(request.requestId, span)
      current.run(span, handle)
    },
    onAnswer(answered) {
      const span = open.get(answered.requestId)
      if (span === undefined) return
      open.delete(answered.requestId)
      const route = `${options.basePathOf(answered.api)}${answered.route}`
      span.updateName(`${answered.method.toUpperCase()} ${route}`)
      span.setAttributes(answerAttributes(answered, route))
      if (answered.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
    steps: (name, part) =>
      // Sound: every method is replaced by one of the same type.
      Object.fromEntries(
        Object.entries(part).map(([key, value]) => [
          key,
          typeof value === 'function' ? step(`${name}.${key}`, value.bind(part)) : value,
        ]),
      ) as typeof part,
    stop: () => atMost(STOP_WITHIN_MS, provider.shutdown().catch(options.onError), () => {}),
  }
}

function createProvider({ endpoint, ratio, version, instance, onError }: TracingOptions): TracerProvider {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` })
  return new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'keystride',
      'service.version': version,
      'service.instance.id': instance,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter: reporting(exporter, onError) })],
  })
}

/** Wraps the exporter so that it reports its failures. */
const reporting = (exporter: OTLPTraceExporter, onError: (error: Error) => void): SpanExporter => ({
  export(spans, done) {
    exporter.export(spans, (result) => {
      if (result.error !== undefined) onError(result.error)
      done(result)
    })
  },
  shutdown: () => exporter.shutdown(),
  forceFlush: () => exporter.forceFlush(),
})

function answerAttributes({ api, status, aborted }: Answered, route: string): Attributes {
  const attributes = { 'http.route': route, 'keystride.api': api }
  return aborted ? { ...attributes, 'keystride.aborted': true } : { ...attributes, 'http.response.status_code': status }
}

/** Ends the span of a step that failed. The message is left out: it may name a person. */
function endFailed(span: Span, error: unknown): void {
  if (error instanceof Refusal) span.setAttribute('keystride.refusal', error.kind)
  else span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}
