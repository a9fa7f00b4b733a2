import { z } from 'zod'
import { linkIssue, linkMax, longLink, noWebAddress, shopLinkIssue } from './link-rules.ts'

const linkBy = (issueOf: (link: string) => string | undefined) =>
  z
    .url({ error: noWebAddress, abort: true })
    .max(linkMax, { error: longLink, abort: true })
    .refine((link) => issueOf(link) === undefined, { error: ({ input }) => issueOf(String(input)) })

/** The address of a page that people open. */
export const webLink = linkBy(linkIssue)

/** A page of a shop. Keyward fills in which license it is about, and never opens it. */
export const shopLink = linkBy(shopLinkIssue)
