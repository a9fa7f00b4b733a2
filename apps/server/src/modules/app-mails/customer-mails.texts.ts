import type { MailKind, MailTemplate } from '@keyward/contract'

export const written = (subject: string, ...paragraphs: string[]): MailTemplate => ({
  subject,
  text: paragraphs.join('\n\n'),
  html: null,
})

interface Words {
  mails: Record<Exclude<MailKind, 'purchase'>, MailTemplate>
  /** What a test says about itself. */
  testNote: string
  /** Before the link that ends such mails. */
  unsubscribe: string
  /** The page that this link opens. */
  page: { title: string; question: string; button: string; done: string; still: string }
}

/** What customers are told, as the server brings it along, by language. A line about a link that there is not is left out. */
export const customerMailTexts = {
  en: {
    mails: {
      renewed: written(
        'Your license for {app} is renewed',
        'Hello {name},',
        'thank you for your order. Your license for {app} is renewed. Your key stays the same; there is nothing else to do.',
        'License: {type}\nUntil: {end}',
        'Your licenses and devices: {page}',
        'Order: {order}',
      ),
      endsSoon: written(
        'Your license for {app} ends on {end}',
        'Hello {name},',
        'your license for {app} ends on {end}.',
        'Renew it here, with the same key: {renew}',
        'Your licenses and devices: {page}',
      ),
      ended: written(
        'Your license for {app} has ended',
        'Hello {name},',
        'your license for {app} ended on {end}.',
        'Renew it here, with the same key: {renew}',
        'Your licenses and devices: {page}',
      ),
      paymentFailed: written(
        'A payment for {app} has failed',
        'Hello {name},',
        'a payment for {app} has failed. Please check your means of payment at the shop where you bought it.',
        'Without a payment, your license ends on {end}.',
        'Your licenses and devices: {page}',
        'Order: {order}',
      ),
      updatesEndSoon: written(
        'Updates of {app} end on {end}',
        'Hello {name},',
        'your license for {app} covers new versions until {end}. Versions from before that day go on working.',
        'Go on getting updates: {renew}',
        'Your licenses and devices: {page}',
      ),
      security: written(
        'Security update for {app}: {version}',
        'Hello {name},',
        'a security problem in {app} is repaired in version {version}. Please update soon.',
        '{summary}',
        'More about it: {link}',
      ),
    },
    testNote: 'This is a test. Its values are invented.',
    unsubscribe: 'No more mails like this one:',
    page: {
      title: 'Unsubscribe',
      question: 'Do you want no more mails about licenses that end, updates and failed payments?',
      button: 'Unsubscribe',
      done: 'You get no more of these mails.',
      still: 'License keys, renewals and security updates are still mailed to you.',
    },
  },
  de: {
    mails: {
      renewed: written(
        'Ihre Lizenz für {app} ist verlängert',
        'Guten Tag {name},',
        'vielen Dank für Ihre Bestellung. Ihre Lizenz für {app} ist verlängert. Ihr Schlüssel bleibt derselbe; Sie müssen nichts weiter tun.',
        'Lizenz: {type}\nBis: {end}',
        'Ihre Lizenzen und Geräte: {page}',
        'Bestellung: {order}',
      ),
      endsSoon: written(
        'Ihre Lizenz für {app} endet am {end}',
        'Guten Tag {name},',
        'Ihre Lizenz für {app} endet am {end}.',
        'Hier verlängern Sie sie, mit demselben Schlüssel: {renew}',
        'Ihre Lizenzen und Geräte: {page}',
      ),
      ended: written(
        'Ihre Lizenz für {app} ist abgelaufen',
        'Guten Tag {name},',
        'Ihre Lizenz für {app} ist am {end} abgelaufen.',
        'Hier verlängern Sie sie, mit demselben Schlüssel: {renew}',
        'Ihre Lizenzen und Geräte: {page}',
      ),
      paymentFailed: written(
        'Eine Zahlung für {app} ist fehlgeschlagen',
        'Guten Tag {name},',
        'eine Zahlung für {app} ist fehlgeschlagen. Bitte prüfen Sie Ihr Zahlungsmittel in dem Shop, in dem Sie gekauft haben.',
        'Ohne Zahlung endet Ihre Lizenz am {end}.',
        'Ihre Lizenzen und Geräte: {page}',
        'Bestellung: {order}',
      ),
      updatesEndSoon: written(
        'Updates von {app} enden am {end}',
        'Guten Tag {name},',
        'Ihre Lizenz für {app} umfasst neue Versionen bis zum {end}. Versionen von vor diesem Tag funktionieren weiter.',
        'Hier bekommen Sie weiter Updates: {renew}',
        'Ihre Lizenzen und Geräte: {page}',
      ),
      security: written(
        'Sicherheitsupdate für {app}: {version}',
        'Guten Tag {name},',
        'ein Sicherheitsproblem in {app} ist in Version {version} behoben. Bitte aktualisieren Sie bald.',
        '{summary}',
        'Mehr dazu: {link}',
      ),
    },
    testNote: 'Dies ist ein Test. Die Angaben sind erfunden.',
    unsubscribe: 'Keine solchen E-Mails mehr:',
    page: {
      title: 'Abmelden',
      question:
        'Möchten Sie keine E-Mails mehr über endende Lizenzen, Updates und fehlgeschlagene Zahlungen?',
      button: 'Abmelden',
      done: 'Sie bekommen keine solchen E-Mails mehr.',
      still: 'Lizenzschlüssel, Verlängerungen und Sicherheitsupdates bekommen Sie weiterhin.',
    },
  },
  es: {
    mails: {
      renewed: written(
        'Tu licencia de {app} está renovada',
        'Hola {name}:',
        'Gracias por tu pedido. Tu licencia de {app} está renovada. Tu clave sigue siendo la misma; no tienes que hacer nada más.',
        'Licencia: {type}\nHasta: {end}',
        'Tus licencias y dispositivos: {page}',
        'Pedido: {order}',
      ),
      endsSoon: written(
        'Tu licencia de {app} termina el {end}',
        'Hola {name}:',
        'Tu licencia de {app} termina el {end}.',
        'Renuévala aquí, con la misma clave: {renew}',
        'Tus licencias y dispositivos: {page}',
      ),
      ended: written(
        'Tu licencia de {app} ha terminado',
        'Hola {name}:',
        'Tu licencia de {app} terminó el {end}.',
        'Renuévala aquí, con la misma clave: {renew}',
        'Tus licencias y dispositivos: {page}',
      ),
      paymentFailed: written(
        'Ha fallado un pago de {app}',
        'Hola {name}:',
        'Ha fallado un pago de {app}. Revisa tu medio de pago en la tienda donde lo compraste.',
        'Sin pago, tu licencia termina el {end}.',
        'Tus licencias y dispositivos: {page}',
        'Pedido: {order}',
      ),
      updatesEndSoon: written(
        'Las actualizaciones de {app} terminan el {end}',
        'Hola {name}:',
        'Tu licencia de {app} incluye versiones nuevas hasta el {end}. Las versiones anteriores a ese día siguen funcionando.',
        'Sigue recibiendo actualizaciones: {renew}',
        'Tus licencias y dispositivos: {page}',
      ),
      security: written(
        'Actualización de seguridad de {app}: {version}',
        'Hola {name}:',
        'La versión {version} repara un problema de seguridad de {app}. Actualiza pronto.',
        '{summary}',
        'Más información: {link}',
      ),
    },
    testNote: 'Esto es una prueba. Los datos son inventados.',
    unsubscribe: 'No recibir más correos como este:',
    page: {
      title: 'Cancelar la suscripción',
      question: '¿No quieres más correos sobre licencias que terminan, actualizaciones y pagos fallidos?',
      button: 'Cancelar la suscripción',
      done: 'No recibirás más correos de este tipo.',
      still: 'Seguirás recibiendo claves de licencia, renovaciones y actualizaciones de seguridad.',
    },
  },
  pt: {
    mails: {
      renewed: written(
        'Sua licença do {app} foi renovada',
        'Olá {name},',
        'Obrigado pelo pedido. Sua licença do {app} foi renovada. Sua chave continua a mesma; não é preciso fazer mais nada.',
        'Licença: {type}\nAté: {end}',
        'Suas licenças e dispositivos: {page}',
        'Pedido: {order}',
      ),
      endsSoon: written(
        'Sua licença do {app} termina em {end}',
        'Olá {name},',
        'Sua licença do {app} termina em {end}.',
        'Renove aqui, com a mesma chave: {renew}',
        'Suas licenças e dispositivos: {page}',
      ),
      ended: written(
        'Sua licença do {app} terminou',
        'Olá {name},',
        'Sua licença do {app} terminou em {end}.',
        'Renove aqui, com a mesma chave: {renew}',
        'Suas licenças e dispositivos: {page}',
      ),
      paymentFailed: written(
        'Um pagamento do {app} falhou',
        'Olá {name},',
        'Um pagamento do {app} falhou. Verifique seu meio de pagamento na loja onde você comprou.',
        'Sem pagamento, sua licença termina em {end}.',
        'Suas licenças e dispositivos: {page}',
        'Pedido: {order}',
      ),
      updatesEndSoon: written(
        'As atualizações do {app} terminam em {end}',
        'Olá {name},',
        'Sua licença do {app} inclui novas versões até {end}. As versões anteriores a esse dia continuam funcionando.',
        'Continue recebendo atualizações: {renew}',
        'Suas licenças e dispositivos: {page}',
      ),
      security: written(
        'Atualização de segurança do {app}: {version}',
        'Olá {name},',
        'A versão {version} corrige um problema de segurança do {app}. Atualize em breve.',
        '{summary}',
        'Mais informações: {link}',
      ),
    },
    testNote: 'Este é um teste. Os dados são inventados.',
    unsubscribe: 'Não receber mais e-mails como este:',
    page: {
      title: 'Cancelar inscrição',
      question: 'Não quer mais e-mails sobre licenças que terminam, atualizações e pagamentos que falharam?',
      button: 'Cancelar inscrição',
      done: 'Você não vai mais receber estes e-mails.',
      still: 'Chaves de licença, renovações e atualizações de segurança continuam sendo enviadas.',
    },
  },
  zh: {
    mails: {
      renewed: written(
        '您的 {app} 许可证已续期',
        '您好 {name}：',
        '感谢您的订购。您的 {app} 许可证已续期。密钥保持不变，您无需再做任何操作。',
        '许可证：{type}\n有效期至：{end}',
        '您的许可证和设备：{page}',
        '订单号：{order}',
      ),
      endsSoon: written(
        '您的 {app} 许可证将于 {end} 到期',
        '您好 {name}：',
        '您的 {app} 许可证将于 {end} 到期。',
        '在此续期，密钥不变：{renew}',
        '您的许可证和设备：{page}',
      ),
      ended: written(
        '您的 {app} 许可证已到期',
        '您好 {name}：',
        '您的 {app} 许可证已于 {end} 到期。',
        '在此续期，密钥不变：{renew}',
        '您的许可证和设备：{page}',
      ),
      paymentFailed: written(
        '{app} 的付款失败',
        '您好 {name}：',
        '{app} 的一笔付款失败。请在您购买的商店检查付款方式。',
        '如果未付款，您的许可证将于 {end} 到期。',
        '您的许可证和设备：{page}',
        '订单号：{order}',
      ),
      updatesEndSoon: written(
        '{app} 的更新将于 {end} 到期',
        '您好 {name}：',
        '您的 {app} 许可证包含 {end} 之前的新版本。此日期之前的版本可以继续使用。',
        '继续获取更新：{renew}',
        '您的许可证和设备：{page}',
      ),
      security: written(
        '{app} 安全更新：{version}',
        '您好 {name}：',
        '{app} 的一个安全问题已在版本 {version} 中修复。请尽快更新。',
        '{summary}',
        '更多信息：{link}',
      ),
    },
    testNote: '这是一封测试邮件，其中的内容是虚构的。',
    unsubscribe: '不再接收此类邮件：',
    page: {
      title: '退订',
      question: '您不想再收到有关许可证到期、更新和付款失败的邮件吗？',
      button: '退订',
      done: '您将不再收到此类邮件。',
      still: '许可证密钥、续期和安全更新仍会发送给您。',
    },
  },
} as const satisfies Record<string, Words>

export const customerWordsOf = (tags: readonly string[]): Words =>
  (customerMailTexts as Record<string, Words>)[tags.at(-1) ?? ''] ?? customerMailTexts.en
