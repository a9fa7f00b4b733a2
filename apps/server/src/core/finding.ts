/** What `keyward doctor` says about one part of an installation. */
export interface Finding {
  state: 'ok' | 'warning' | 'error'
  text: string
  /** The command or setting that repairs it; null if nothing has to be done. */
  fix: string | null
}

export const fine = (text: string): Finding => ({ state: 'ok', text, fix: null })
export const warning = (text: string, fix: string): Finding => ({ state: 'warning', text, fix })
export const failure = (text: string, fix: string): Finding => ({ state: 'error', text, fix })
