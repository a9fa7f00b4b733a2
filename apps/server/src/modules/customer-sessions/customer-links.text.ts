import { canonicalLocale, limits, lookupTags } from '@keyward/contract'
import type { Mail } from '../mail/mail.service.ts'
import { composeMail } from '../mail/mail.text.ts'

/** `open`: what a customer has. `password`: choose a password. */
export type LinkPurpose = 'open' | 'password'

interface Texts {
  subject: Record<LinkPurpose, (app: string) => string>
  intro: Record<LinkPurpose, (app: string) => string>
  link: string
  end: (minutes: number) => string
}

const english: Texts = {
  subject: {
    open: (app) => `Your licenses of ${app}`,
    password: (app) => `Choose a new password for ${app}`,
  },
  intro: {
    open: (app) => `this link shows your license keys, devices and orders of ${app}.`,
    password: (app) => `with this link you choose a new password for ${app}.`,
  },
  link: 'Open',
  end: (minutes) =>
    `The link works once, for ${minutes} minutes. If you did not ask for it, ignore this message: nothing changes.`,
}

const texts: Readonly<Record<string, Texts & { hello: string }>> = {
  en: { hello: 'Hello,', ...english },
  de: {
    hello: 'Guten Tag,',
    subject: {
      open: (app) => `Ihre Lizenzen für ${app}`,
      password: (app) => `Neues Passwort für ${app} wählen`,
    },
    intro: {
      open: (app) => `dieser Link zeigt Ihre Lizenzschlüssel, Geräte und Bestellungen von ${app}.`,
      password: (app) => `mit diesem Link wählen Sie ein neues Passwort für ${app}.`,
    },
    link: 'Öffnen:',
    end: (minutes) =>
      `Der Link funktioniert einmal, ${minutes} Minuten lang. Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese Nachricht: Es ändert sich nichts.`,
  },
  es: {
    hello: 'Hola:',
    subject: {
      open: (app) => `Tus licencias de ${app}`,
      password: (app) => `Elige una contraseña nueva para ${app}`,
    },
    intro: {
      open: (app) => `este enlace muestra tus claves de licencia, dispositivos y pedidos de ${app}.`,
      password: (app) => `con este enlace eliges una contraseña nueva para ${app}.`,
    },
    link: 'Abrir:',
    end: (minutes) =>
      `El enlace funciona una sola vez, durante ${minutes} minutos. Si no lo has pedido, ignora este mensaje: nada cambia.`,
  },
  pt: {
    hello: 'Olá,',
    subject: {
      open: (app) => `Suas licenças de ${app}`,
      password: (app) => `Escolha uma nova senha para ${app}`,
    },
    intro: {
      open: (app) => `este link mostra suas chaves de licença, dispositivos e pedidos de ${app}.`,
      password: (app) => `com este link você escolhe uma nova senha para ${app}.`,
    },
    link: 'Abrir:',
    end: (minutes) =>
      `O link funciona uma vez, por ${minutes} minutos. Se você não o pediu, ignore esta mensagem: nada muda.`,
  },
  zh: {
    hello: '您好：',
    subject: {
      open: (app) => `您的 ${app} 许可证`,
      password: (app) => `为 ${app} 设置新密码`,
    },
    intro: {
      open: (app) => `此链接显示您的 ${app} 许可证密钥、设备和订单。`,
      password: (app) => `通过此链接，您可以为 ${app} 设置新密码。`,
    },
    link: '打开：',
    end: (minutes) =>
      `链接只能使用一次，${minutes} 分钟内有效。如果不是您本人申请，请忽略此邮件，不会有任何更改。`,
  },
}

interface LinkMail {
  to: string
  link: string
  app: string
  purpose: LinkPurpose
  /** As a shop or a browser names it; English for a language without texts. */
  locale: string | undefined
}

export function toLinkMail({ to, link, app, purpose, locale = 'en' }: LinkMail): Mail {
  const tag = lookupTags(canonicalLocale(locale) ?? 'en').find((one) => Object.hasOwn(texts, one)) ?? 'en'
  const { hello, subject, intro, link: open, end } = texts[tag] as Texts & { hello: string }
  return {
    ...composeMail({
      to,
      subject: subject[purpose](app),
      paragraphs: [hello, intro[purpose](app), { before: open, link }, end(limits.customerLinkMinutes)],
    }),
    isSecret: true,
  }
}
