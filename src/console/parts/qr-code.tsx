import { useMemo } from 'preact/hooks'
import { encode } from 'uqr'

/** Modules of white on each side, as the standard of QR codes demands. */
const QUIET = 4

/** A QR code, dark on white in both themes, since many readers know no other. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { size, path } = useMemo(() => {
    const code = encode(text, { ecc: 'M', border: QUIET })
    const dark = code.data.flatMap((row, y) => row.flatMap((on, x) => (on ? [`M${x} ${y}h1v1h-1z`] : [])))
    return { size: code.size, path: dark.join('') }
  }, [text])
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
