// https://razorpay.com/docs/payments/payment-gateway/web-integration/standard/integration-steps
;(() => {
  const baseUrl = '__BASE_URL__'

  const style = (element, rules) => Object.assign(element.style, rules)

  const add = (parent, name, text, rules = {}) => {
    const element = document.createElement(name)
    element.textContent = text
    style(element, rules)
    parent.append(element)
    return element
  }

  const money = (amount, currency) =>
    amount === undefined
      ? ''
      : new Intl.NumberFormat('en-IN', { style: 'currency', currency: currency ?? 'INR' }).format(
          Number(amount) / 100,
        )

  class Razorpay {
    #options
    #listeners = new Map()
    #overlay
    #timer
    #focusBefore

    constructor(options) {
      if (!options?.key) throw new Error('No key passed')
      this.#options = options
    }

    on(event, listener) {
      this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener])
    }

    open() {
      if (this.#overlay) return
      this.#focusBefore = document.activeElement
      this.#overlay = this.#draw()
      document.body.append(this.#overlay)
      this.#overlay.querySelector('button').focus()
      const { timeout } = this.#options
      if (timeout) this.#timer = setTimeout(() => this.#dismiss('timeout'), timeout * 1000)
    }

    close() {
      clearTimeout(this.#timer)
      this.#overlay?.remove()
      this.#overlay = undefined
      this.#focusBefore?.focus?.()
    }

    #draw() {
      const { name, description, amount, currency, prefill, theme, modal } = this.#options
      const overlay = document.createElement('div')
      overlay.setAttribute('data-stand-in-checkout', '')
      style(overlay, {
        position: 'fixed',
        inset: '0',
        zIndex: '2147483647',
        pointerEvents: 'auto',
        display: 'grid',
        placeItems: 'center',
        background: 'rgb(0 0 0 / 60%)',
        font: '16px/1.5 system-ui, sans-serif',
      })
      const dialog = add(overlay, 'div', '', {
        display: 'grid',
        gap: '12px',
        boxSizing: 'border-box',
        width: 'min(360px, calc(100vw - 32px))',
        maxHeight: 'calc(100vh - 32px)',
        overflow: 'auto',
        padding: '24px',
        background: '#fff',
        color: '#111',
        borderTop: `6px solid ${theme?.color ?? '#3b5bdb'}`,
      })
      dialog.setAttribute('role', 'dialog')
      dialog.setAttribute('aria-modal', 'true')
      dialog.setAttribute('aria-label', 'Stand-in checkout')
      add(dialog, 'strong', 'Stand-in checkout')
      add(dialog, 'span', 'No real money moves here.')
      for (const text of [name, description, money(amount, currency), prefill?.email])
        if (text) add(dialog, 'span', text, { overflowWrap: 'anywhere' })
      const note = add(dialog, 'span', '', { color: '#a61e1e' })
      note.setAttribute('role', 'alert')
      const button = (text, act) => {
        const element = add(dialog, 'button', text, {
          font: 'inherit',
          minHeight: '44px',
          padding: '8px',
          border: '1px solid #444',
          background: '#f4f4f4',
          color: '#111',
          cursor: 'pointer',
        })
        element.type = 'button'
        element.addEventListener('click', act)
      }
      button('Pay', () => this.#pay(note, 'captured', (answer) => this.#succeed(answer)))
      button('Fail', () => this.#pay(note, 'failed', (answer) => this.#fail(note, answer)))
      button('Pay, but tell nobody', () => this.#pay(note, 'captured', () => this.close()))
      button('Dismiss', () => this.#dismiss())
      overlay.addEventListener('keydown', (event) => {
        if (event.key === 'Escape' && modal?.escape !== false) this.#dismiss()
      })
      return overlay
    }

    async #pay(note, status, then) {
      const buttons = this.#overlay.querySelectorAll('button')
      const enable = (enabled) => {
        for (const button of buttons) button.disabled = !enabled
      }
      enable(false)
      note.textContent = ''
      try {
        const response = await fetch(`${baseUrl}/control/pay`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ key: this.#options.key, order_id: this.#options.order_id, status }),
        })
        const answer = await response.json()
        if (response.ok) then(answer)
        else note.textContent = answer.error.description
      } catch {
        note.textContent = 'The stand-in does not answer.'
      } finally {
        enable(true)
      }
    }

    #succeed(answer) {
      this.close()
      const { handler } = this.#options
      const { razorpay_payment_id, razorpay_order_id, razorpay_signature } = answer
      handler?.({ razorpay_payment_id, razorpay_order_id, razorpay_signature })
    }

    // The window stays open so that the customer can retry.
    #fail(note, { error }) {
      note.textContent = error.description
      for (const listener of this.#listeners.get('payment.failed') ?? []) listener({ error })
    }

    #dismiss(reason) {
      this.close()
      this.#options.modal?.ondismiss?.(reason)
    }
  }

  window.Razorpay = Razorpay
})()
