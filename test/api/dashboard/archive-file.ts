import { inflateRawSync } from 'node:zlib'

/** The only file of a zip, by its central directory; throws if the zip is truncated or has more files. */
export function unzipped(zip: Uint8Array): { name: string; content: Buffer } {
  const bytes = Buffer.from(zip)
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  if (end < 0 || bytes.readUInt16LE(end + 10) !== 1) throw new Error('not a complete zip of one file')
  const entry = bytes.readUInt32LE(end + 16)
  const packed = bytes.readUInt32LE(entry + 20)
  const name = bytes.toString('utf8', entry + 46, entry + 46 + bytes.readUInt16LE(entry + 28))
  const local = bytes.readUInt32LE(entry + 42)
  const begin = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
  const content = inflateRawSync(bytes.subarray(begin, begin + packed))
  if (content.length !== bytes.readUInt32LE(entry + 24)) throw new Error('the file has another length')
  return { name, content }
}

/** Records of RFC 4180: quotes, doubled quotes, CRLF. Throws for invalid text. */
export function csvRecords(text: string): string[][] {
  const records: string[][] = []
  for (let i = 0; i < text.length; ) {
    const record: string[] = []
    for (;;) {
      let cell = ''
      if (text[i] === '"') {
        for (i += 1; text[i] !== '"' || text[i + 1] === '"'; i += 1) {
          if (i >= text.length) throw new Error('a quoted cell that does not end')
          if (text[i] === '"') i += 1
          cell += text[i]
        }
        i += 1
      } else {
        while (i < text.length && !',\r\n"'.includes(text[i] ?? '')) cell += text[i++]
      }
      record.push(cell)
      if (text[i] !== ',') break
      i += 1
    }
    if (text.slice(i, i + 2) !== '\r\n') throw new Error(`record ${records.length} does not end with CRLF`)
    i += 2
    records.push(record)
  }
  return records
}
