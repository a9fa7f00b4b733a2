/** The work that customers pay for. It is not part of the program that they have. */
export function review(text, { withDetails }) {
  const sentences = text.split(/[.!?]+\s/).filter((each) => /\p{L}/u.test(each))
  const words = text.match(/\p{L}+/gu) ?? []
  const perSentence = words.length / Math.max(1, sentences.length)
  const long = words.filter((word) => word.length > 9)
  return {
    words: words.length,
    wordsPerSentence: Math.round(perSentence * 10) / 10,
    verdict: perSentence > 20 ? 'Shorten the sentences.' : 'Easy to read.',
    ...(withDetails && { longWords: [...new Set(long)].slice(0, 20) }),
  }
}
