import { randomBytes } from 'node:crypto'

const chunk = (name: string, content: Buffer) => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  // Nobody in these tests reads the checksum.
  return Buffer.concat([length, Buffer.from(name), content, Buffer.alloc(4)])
}

/** The frame of a PNG of a size, with random bytes in place of its points, `bytes` altogether if they are given. */
export function png(width: number, height: number, bytes = 200): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  const start = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', header)])
  const end = Buffer.from('0000000049454e44ae426082', 'hex')
  const content = randomBytes(bytes - start.length - end.length - 12)
  return Buffer.concat([start, chunk('IDAT', content), end])
}

/** The same of a JPEG, with a comment before its frame. */
export function jpeg(width: number, height: number): Buffer {
  const comment = Buffer.concat([Buffer.from('fffe0006', 'hex'), randomBytes(4)])
  const frame = Buffer.from('ffc00011080000000003012200021101031101', 'hex')
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  return Buffer.concat([
    Buffer.from('ffd8', 'hex'),
    comment,
    frame,
    randomBytes(40),
    Buffer.from('ffd9', 'hex'),
  ])
}
