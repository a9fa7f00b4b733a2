import { limits } from '@keyward/contract'

/** Draws a picture anew as a PNG that the server takes: nothing else of its file is kept. */
export async function encodeLogo(file: Blob): Promise<string> {
  const image = await createImageBitmap(file)
  let side = 640
  for (;;) {
    const scale = Math.min(1, side / Math.max(image.width, image.height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(image.width * scale))
    canvas.height = Math.max(1, Math.round(image.height * scale))
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    const address = canvas.toDataURL('image/png')
    if (address.length * 0.75 <= limits.logoBytesMax) return address
    side /= 2
  }
}
