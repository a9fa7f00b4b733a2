import encodeQr from 'qr'

/** Black on white in both themes, with the quiet zone that cameras need. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQr(text, 'raw', { border: 4 })
  const squares = rows.flatMap((row, y) => row.flatMap((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : [])))
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
      className="block size-52 rounded-lg border bg-white"
    >
      <path d={squares.join('')} fill="#000" />
    </svg>
  )
}
