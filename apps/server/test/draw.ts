/** Numbers below a limit, the same for each seed. */
export function drawFrom(seed: number) {
  let state = seed + 1
  return (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return Math.floor((state / 0x7fff_ffff) * below) % below
  }
}
