/** The part of uWebSockets.js that the server uses and `node-server.ts` implements. */

/** The part of a uWebSockets.js response that the server uses. */
export interface UwsResponse {
  onAborted(handler: () => void): UwsResponse
  /** `chunk` is valid only during the call: copy it to keep it. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse
  cork(write: () => void): UwsResponse
  writeStatus(status: string): UwsResponse
  writeHeader(name: string, value: string): UwsResponse
  end(body: string | Uint8Array, closeConnection?: boolean): UwsResponse
  /** Answers with a length of `reportedContentLength` and no body, for HEAD. */
  endWithoutBody(reportedContentLength?: number, closeConnection?: boolean): UwsResponse
  /** Closes the connection at once; any onAborted handler runs. */
  close(): UwsResponse
}

/** A request on the C++ stack, valid only until the route handler returns or awaits. */
export interface UwsRequest {
  /** The method as the client wrote it. */
  getCaseSensitiveMethod(): string
  getUrl(): string
  /** The raw query; undefined or empty if the target has none. */
  getQuery(): string | undefined
  forEach(visit: (name: string, value: string) => void): void
}

/** The native listen socket, opaque. */
export type UwsListenSocket = object

export interface UwsApp {
  any(pattern: string, handler: (res: UwsResponse, req: UwsRequest) => void): UwsApp
  listen(host: string, port: number, options: number, done: (socket: UwsListenSocket | false) => void): UwsApp
  /** Closes every socket of the app, idle and busy. */
  close(): UwsApp
}

export interface UwsModule {
  App(): UwsApp
  us_listen_socket_close(socket: UwsListenSocket): void
  us_socket_local_port(socket: UwsListenSocket): number
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number
}
