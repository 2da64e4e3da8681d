import { request } from '../harness/raw.js'
import { key } from './marked.js'

/** A request that two readers may parse differently, with another one hidden in its body or in place of one. */
export interface Case {
  readonly name: string
  /** The bytes on the wire; `hidden` is a whole request. */
  readonly text: (hidden: string) => string
}

type Cases = Readonly<Record<string, (hidden: string) => string>>

const named = (cases: Cases): Case[] => Object.entries(cases).map(([name, text]) => ({ name, text }))

const target = '/core/users/attack'
const head = (line: string, ...headers: string[]) => `${[line, ...headers].join('\r\n')}\r\n\r\n`
const put = (...headers: string[]) => head(`PUT ${target} HTTP/1.1`, 'Host: x', key, ...headers)
const length = (body: string) => `Content-Length: ${body.length}`
const TE = 'Transfer-Encoding: chunked'
const hex = (body: string) => body.length.toString(16)
const chunk = (body: string) => `${hex(body)}\r\n${body}\r\n`
const last = '0\r\n\r\n'

/** By `Content-Length` the body is everything that follows; by a chunk size as `spelled` it may be less. */
const sized = (spelled: (size: number) => string) => (hidden: string) => put(spelled(hidden.length)) + hidden

const contentLengths: Cases = {
  'a length with a plus': sized((n) => `Content-Length: +${n}`),
  'a negative length': sized(() => 'Content-Length: -1'),
  'a length of minus zero': sized(() => 'Content-Length: -0'),
  'a length with letters after it': sized((n) => `Content-Length: ${n}abc`),
  'a length in hexadecimal': sized((n) => `Content-Length: 0x${n.toString(16)}`),
  'a length with a fraction': sized((n) => `Content-Length: ${n}.0`),
  'a length with an exponent': sized(() => 'Content-Length: 1e2'),
  'a length with an underscore': sized((n) => `Content-Length: 0_${n}`),
  'a length in quotes': sized((n) => `Content-Length: "${n}"`),
  'a length in Arabic digits': sized(() => 'Content-Length: ١٢'),
  'a length twice in a list': sized((n) => `Content-Length: ${n}, ${n}`),
  'two lengths in a list': sized((n) => `Content-Length: 0, ${n}`),
  'two lengths with a space': sized((n) => `Content-Length: 0 ${n}`),
  'two lengths with a tab': sized((n) => `Content-Length: ${n}\t0`),
  'a length and a comma': sized((n) => `Content-Length: ${n},`),
  'a length that overflows 64 bits': sized((n) => `Content-Length: ${2n ** 64n + BigInt(n)}`),
  'a length that overflows 32 bits': sized((n) => `Content-Length: ${2n ** 32n + BigInt(n)}`),
  'a length that is empty': sized(() => 'Content-Length:'),
  'a length of spaces': sized(() => 'Content-Length:   '),
  'a length with a NUL': sized((n) => `Content-Length: ${n}\0`),
  'a length after a vertical tab': sized((n) => `Content-Length:\x0b${n}`),
  'a length after a bare CR': sized((n) => `Content-Length:\r${n}`),
  'a length on the next line': sized((n) => `Content-Length:\r\n ${n}`),
  'a length with a space before its colon': sized((n) => `Content-Length : ${n}`),
  'a length with a tab before its colon': sized((n) => `Content-Length\t: ${n}`),
  'a length with a NUL in its name': sized((n) => `Content-Length\0: ${n}`),
  'two equal lengths': sized((n) => `Content-Length: ${n}\r\nContent-Length: ${n}`),
  'two lengths, zero first': sized((n) => `Content-Length: 0\r\nContent-Length: ${n}`),
  'two lengths, zero second': sized((n) => `Content-Length: ${n}\r\ncontent-length: 0`),
}

/** By its chunks the body ends before the hidden request; by its length it contains it. */
const coded = (spelled: string) => (hidden: string) => put(length(last + hidden), spelled) + last + hidden
/** There is no length: a reader that ignores the coding parses the rest as the next request. */
const codedAlone = (spelled: string) => (hidden: string) => put(spelled) + chunk(hidden) + last

const transferEncodings: Cases = {
  'both framings': coded(TE),
  'both framings, the coding first': (hidden) => put(TE, length(last + hidden)) + last + hidden,
  'both framings, with too short a length': (hidden) => put('Content-Length: 4', TE) + chunk(hidden) + last,
  'a coding with a letter before it': codedAlone('Transfer-Encoding: xchunked'),
  'a coding with a letter after it': codedAlone('Transfer-Encoding: chunkedx'),
  'the coding identity': coded('Transfer-Encoding: identity'),
  'the coding identity alone': codedAlone('Transfer-Encoding: identity'),
  'a coding that is empty': codedAlone('Transfer-Encoding:'),
  'two codings': codedAlone('Transfer-Encoding: gzip, chunked'),
  'a coding twice in a list': codedAlone('Transfer-Encoding: chunked, chunked'),
  'chunked, then another coding': codedAlone('Transfer-Encoding: chunked, identity'),
  'a list that begins with a comma': codedAlone('Transfer-Encoding: ,chunked'),
  'a list that ends with a comma': codedAlone('Transfer-Encoding: chunked,'),
  'a coding with a parameter': codedAlone('Transfer-Encoding: chunked;q=1'),
  'a coding in quotes': codedAlone('Transfer-Encoding: "chunked"'),
  'a coding with a NUL': coded('Transfer-Encoding: chunked\0'),
  'a coding after a vertical tab': coded('Transfer-Encoding:\x0bchunked'),
  'a coding after a bare CR': coded('Transfer-Encoding:\rchunked'),
  'a coding after a bare CR in another header': coded(`X-A: a\r${TE}`),
  'a coding after a bare LF in another header': coded(`X-A: a\n${TE}`),
  'a coding on the next line': coded('Transfer-Encoding:\r\n chunked'),
  'a coding folded into another header': coded(`X-A: a\r\n ${TE}`),
  'a coding with a space before its colon': coded('Transfer-Encoding : chunked'),
  'a coding with a tab before its colon': coded('Transfer-Encoding\t: chunked'),
  'a coding with a control character in its name': coded('Transfer-\x01Encoding: chunked'),
  'a coding twice': codedAlone(`${TE}\r\n${TE}`),
  'a coding twice, identity first': codedAlone(`Transfer-Encoding: identity\r\n${TE}`),
  'a coding twice, identity second': codedAlone(`${TE}\r\nTransfer-Encoding: identity`),
}

/** A chunked body whose data is the hidden request. */
const chunks = (spelled: (hidden: string) => string) => (hidden: string) => put(TE) + spelled(hidden)

const chunkSizes: Cases = {
  'a chunk size that is no number': chunks((hidden) => `zz\r\n${hidden}\r\n${last}`),
  'a negative chunk size': chunks((hidden) => `-1\r\n${hidden}\r\n${last}`),
  'a chunk size with a plus': chunks((hidden) => `+${chunk(hidden)}${last}`),
  'a chunk size with a hexadecimal prefix': chunks((hidden) => `0x${chunk(hidden)}${last}`),
  'a chunk size after a space': chunks((hidden) => ` ${chunk(hidden)}${last}`),
  'a chunk size that is empty': chunks((hidden) => `\r\n${hidden}\r\n${last}`),
  'a chunk size of 18 digits': chunks((hidden) => `ffffffffffffffffff\r\n${hidden}\r\n${last}`),
  'a chunk size that overflows 64 bits': chunks(
    (hidden) => `1${hex(hidden).padStart(16, '0')}\r\n${hidden}\r\n${last}`,
  ),
  'a chunk size that overflows 32 bits': chunks((hidden) => `1${hex(hidden).padStart(8, '0')}\r\n${hidden}\r\n${last}`),
  'a chunk size with an underscore': chunks((hidden) => `0_${chunk(hidden)}${last}`),
  'a chunk size with junk after it': chunks((hidden) => `${hex(hidden)}zz\r\n${hidden}\r\n${last}`),
  'a chunk size that ends in a bare CR': chunks((hidden) => `${hex(hidden)}\r${hidden}\r\n${last}`),
  'a chunk extension that ends in a bare LF': chunks((hidden) => `2;a\nxx\r\n${chunk(hidden)}${last}`),
  'a chunk extension with a NUL': chunks((hidden) => `${hex(hidden)};a=\0\r\n${hidden}\r\n${last}`),
  'a chunk extension with a bare CR': chunks((hidden) => `${hex(hidden)};a\rb\r\n${hidden}\r\n${last}`),
  'a last chunk of minus zero': chunks((hidden) => `-0\r\n\r\n${hidden}`),
  'a last chunk with a hexadecimal prefix': chunks((hidden) => `0x0\r\n\r\n${hidden}`),
}

/** Chunks that HTTP forbids and uWebSockets.js accepts; one provider accepts more of them than the other. */
const misspelt: Cases = {
  'a chunk size with the letter g': chunks((hidden) => `g\r\n${hidden.slice(0, 16)}\r\n${chunk(hidden)}${last}`),
  'a chunk size with a space and junk after it': chunks((hidden) => `${hex(hidden)} zz\r\n${hidden}\r\n${last}`),
  'a chunk size that ends in a bare LF': chunks((hidden) => `${hex(hidden)}\n${hidden}\r\n${last}`),
  'a chunk that ends in a bare LF': chunks((hidden) => `${hex(hidden)}\r\n${hidden}\n${last}`),
  'a chunk without a line end': chunks((hidden) => `${hex(hidden)}\r\n${hidden}${last}`),
  'a chunk that ends in two other bytes': chunks((hidden) => `${hex(hidden)}\r\n${hidden}XX${last}`),
  'a chunk longer than its size': chunks((hidden) => `2\r\nabc\r\n${chunk(hidden)}${last}`),
  'a last chunk with other bytes at its end': chunks((hidden) => `1\r\nx\r\n0\r\nXX${hidden}`),
  'a trailer without a colon': chunks((hidden) => `1\r\nx\r\n0\r\nnonsense\r\n\r\n${hidden}`),
  'a trailer with a space before its colon': chunks((hidden) => `1\r\nx\r\n0\r\nX-A : a\r\n\r\n${hidden}`),
}

/** A body with a length that contains the hidden request, and a malformed head. */
const wrong =
  (...headers: string[]) =>
  (hidden: string) =>
    put(...headers, length(hidden)) + hidden

const headers: Cases = {
  'two hosts': wrong('Host: y'),
  'two equal hosts': wrong('Host: x'),
  'two keys': wrong('apikey: another'),
  'two equal keys': wrong(key),
  'two sessions': wrong('X-Service-Session: a', 'x-service-session: b'),
  'two content types': wrong('Content-Type: application/json', 'Content-Type: text/plain'),
  'no host': (hidden) => head(`PUT ${target} HTTP/1.1`, key, length(hidden)) + hidden,
  'a header without a colon': wrong('nonsense'),
  'a header without a name': wrong(': a'),
  'a space before a colon': wrong('X-A : a'),
  'a space in a name': wrong('X A: a'),
  'a space before the first name': (hidden) => head(`PUT ${target} HTTP/1.1`, ' Host: x', key, length(hidden)) + hidden,
  'a fold with a space': wrong('X-A: a', ' b'),
  'a fold with a tab': wrong('X-A: a', '\tb'),
  'a NUL in a value': wrong('X-A: a\0b'),
  'a NUL in a name': wrong('X-\0A: a'),
  'a control character in a value': wrong('X-A: a\x01b'),
  'a control character in a name': wrong('X-\x01A: a'),
  'a DEL in a value': wrong('X-A: a\x7fb'),
  'a bracket in a name': wrong('X(A): a'),
  'a letter beyond ASCII in a name': wrong('X-Ä: a'),
  'a bare CR in a value': wrong('X-A: a\rb'),
  'a bare LF in a value': wrong('X-A: a\nX-B: b'),
  'two CRs at the end of a line': wrong('X-A: a\r'),
  'only bare LFs': (hidden) => wrong()(hidden).replaceAll('\r\n', '\n'),
  'a head that ends in a bare LF': (hidden) => `PUT ${target} HTTP/1.1\r\nHost: x\r\n${key}\n\n${hidden}`,
  'two thousand headers': wrong(...Array.from({ length: 2000 }, (_, i) => `X-${i}: a`)),
}

const line =
  (text: string, ...more: string[]) =>
  (hidden: string) =>
    head(text, 'Host: x', key, ...more, length(hidden)) + hidden

const requestLines: Cases = {
  'no version': line(`PUT ${target}`),
  'version 0.9': line(`PUT ${target} HTTP/0.9`),
  'version 1.2': line(`PUT ${target} HTTP/1.2`),
  'version 9.9': line(`PUT ${target} HTTP/9.9`),
  'a version in lower case': line(`PUT ${target} http/1.1`),
  'a version with a leading zero': line(`PUT ${target} HTTP/01.1`),
  'a version twice': line(`PUT ${target} HTTP/1.1 HTTP/1.1`),
  'a space after the version': line(`PUT ${target} HTTP/1.1 `),
  'two spaces before the version': line(`PUT ${target}  HTTP/1.1`),
  'two spaces after the method': line(`PUT  ${target} HTTP/1.1`),
  'tabs for spaces': line(`PUT\t${target}\tHTTP/1.1`),
  'a space before the method': line(` PUT ${target} HTTP/1.1`),
  'a method in lower case': line(`put ${target} HTTP/1.1`),
  'an unknown method': line(`BREW ${target} HTTP/1.1`),
  'a method with a NUL': line(`PUT\0 ${target} HTTP/1.1`),
  'a target with a NUL': line(`PUT ${target}\0 HTTP/1.1`),
  'a target with a bare CR': line(`PUT ${target}\rHost: y HTTP/1.1`),
  'a target with a bare LF': line(`PUT ${target}\nHost: y HTTP/1.1`),
  'a target with a fragment': line(`PUT ${target}#a HTTP/1.1`),
  'a target with a letter beyond ASCII': line(`PUT ${target}ä HTTP/1.1`),
  'a target without a slash': line(`PUT ${target.slice(1)} HTTP/1.1`),
  'an absolute target': line(`PUT http://x${target} HTTP/1.1`),
  'an absolute target of another host': line(`PUT http://y${target} HTTP/1.1`),
  'an authority for a target': line('CONNECT x:80 HTTP/1.1'),
  'an authority with another method': line('PUT x:80 HTTP/1.1'),
  'an asterisk': line('OPTIONS * HTTP/1.1'),
  'the preface of HTTP/2': (hidden) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}`,
  'the line of a PROXY protocol': (hidden) => `PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n${put(length(hidden))}${hidden}`,
  'version 1.0 with chunks': (hidden) => head(`PUT ${target} HTTP/1.0`, 'Host: x', key, TE) + chunk(hidden) + last,
  'version 1.0 with both framings': (hidden) =>
    head(`PUT ${target} HTTP/1.0`, 'Host: x', key, 'Connection: keep-alive', length(last + hidden), TE) + last + hidden,
}

/** Bytes that HTTP forbids, or that we refuse: each gets a refusal or a closed connection, and no later request is served. */
export const malformed: readonly Case[] = named({
  ...contentLengths,
  ...transferEncodings,
  ...chunkSizes,
  ...headers,
  ...requestLines,
})

/** Malformed chunks that only the library sees: the request has one body, and the connection closes with the answer. */
export const misspeltChunks: readonly Case[] = named(misspelt)

/** Unusual but valid: exactly one request, whose body is not parsed as another one. */
export const odd: readonly Case[] = named({
  'GET with a body': line(`GET ${target} HTTP/1.1`),
  'GET with a body in chunks': (hidden) => head(`GET ${target} HTTP/1.1`, 'Host: x', key, TE) + chunk(hidden) + last,
  'HEAD with a body': line(`HEAD ${target} HTTP/1.1`),
  'DELETE with a body, which the path does not take': line(`DELETE ${target} HTTP/1.1`),
  'TRACE with a body': line(`TRACE ${target} HTTP/1.1`),
  'a body with an unknown key': (hidden) =>
    head(`PUT ${target} HTTP/1.1`, 'Host: x', 'apikey: nobody', length(hidden)) + hidden,
  'a body for an unknown path': line('PUT /core/nowhere HTTP/1.1'),
  'a body over the size limit': (hidden) => wrong()(hidden.repeat(1 + Math.ceil(65_536 / hidden.length))),
  'a body of an unsupported type': wrong('Content-Type: text/plain'),
  'a body declared as compressed': wrong('Content-Encoding: gzip'),
  'version 1.0 with keep-alive': line(`PUT ${target} HTTP/1.0`, 'Connection: keep-alive'),
  'version 1.0 without a host': (hidden) => head(`PUT ${target} HTTP/1.0`, key, length(hidden)) + hidden,
  'an upgrade to h2c': wrong('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'),
  'an upgrade to a websocket': wrong(
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ),
  'an expectation of 100-continue, sent without waiting': wrong('Expect: 100-continue'),
  'an expectation of something else': wrong('Expect: 200-ok'),
  'two expectations': wrong('Expect: 100-continue', 'Expect: 100-continue'),
  'an expectation in chunks': (hidden) => put('Expect: 100-continue', TE) + chunk(hidden) + last,
  'a connection that names the length': wrong('Connection: Content-Length'),
  'a connection that names the coding': (hidden) => put('Connection: Transfer-Encoding', TE) + chunk(hidden) + last,
  'a connection with close and keep-alive': wrong('Connection: close, keep-alive'),
  'a length between spaces': sized((n) => `Content-Length:   ${n}  `),
  'a length after a tab': sized((n) => `Content-Length:\t${n}`),
  'a length with leading zeros, which is not octal': sized((n) => `Content-Length: 00${n}`),
  'a length, and another with an underscore': wrong('Content_Length: 0'),
  'a length, and a coding with an underscore': wrong('Transfer_Encoding: chunked'),
  'a coding in upper case, which we refuse': codedAlone('Transfer-Encoding: CHUNKED'),
  'a coding after a tab': codedAlone('Transfer-Encoding:\tchunked'),
  'a coding with a space after it': codedAlone('Transfer-Encoding: chunked '),
  'a coding whose header name has mixed case': codedAlone('tRANSFER-eNCODING: chunked'),
  'a chunk size with leading zeros': chunks((hidden) => `00000${chunk(hidden)}${last}`),
  'a chunk size in upper case': chunks((hidden) => `${hex(hidden).toUpperCase()}\r\n${hidden}\r\n${last}`),
  'a chunk with an extension': chunks((hidden) => `${hex(hidden)};a=b\r\n${hidden}\r\n${last}`),
  'a chunk with an extension in quotes': chunks((hidden) => `${hex(hidden)};a="0;"\r\n${hidden}\r\n${last}`),
  'a chunk with an extension of 20 kB': chunks((hidden) => `2;${'a'.repeat(20_000)}\r\nxx\r\n${chunk(hidden)}${last}`),
  'a chunk for each byte': chunks((hidden) => [...hidden].map(chunk).join('') + last),
  'a last chunk of several zeros': chunks((hidden) => `${chunk(hidden)}000\r\n\r\n`),
  'a last chunk with an extension': chunks((hidden) => `${chunk(hidden)}0;a\r\n\r\n`),
  'a trailer': chunks((hidden) => `${chunk(hidden)}0\r\nX-A: a\r\n\r\n`),
  'a trailer with a length': chunks((hidden) => `${chunk(hidden)}0\r\nContent-Length: 0\r\n\r\n`),
  'a trailer with a coding': chunks((hidden) => `${chunk(hidden)}0\r\n${TE}\r\n\r\n`),
  'an empty line before the request line': (hidden) => `\r\n${wrong()(hidden)}`,
  'a head of 16 KiB': wrong(`X-A: ${'a'.repeat(16_384)}`),
  'a name of 5,000 letters': wrong(`X-${'a'.repeat(5000)}: a`),
  'a target of 16 KiB': line(`PUT ${target}?a=${'a'.repeat(16_384)} HTTP/1.1`),
  'a value beyond ASCII': wrong('X-A: ä'),
  'a value that looks like a head': wrong(`X-A: ${request('GET /core/users/hidden').split('\r\n')[0]}`),
})
