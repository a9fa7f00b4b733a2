/** The most common passwords, which attackers try first. */
const common = new Set(
  `123456 123456789 12345678 12345 1234567 1234567890 password password1 password123 passw0rd p@ssw0rd p@ssword
qwerty qwerty123 qwertyuiop qwerty1 1q2w3e4r 1q2w3e4r5t 1qaz2wsx qazwsx zaq12wsx abc123 abcd1234 a1b2c3 a1b2c3d4 aa123456
iloveyou admin admin123 administrator root toor welcome welcome1 welcome123 letmein letmein1 monkey dragon sunshine princess
football baseball basketball soccer hockey master superman batman trustno1 shadow michael jordan jennifer hunter hunter2
ashley nicole daniel jessica charlie andrew thomas robert joshua matthew george summer winter spring autumn freedom
whatever starwars pokemon computer internet secret secret123 changeme default login access flower cheese killer pepper
111111 11111111 000000 00000000 123123 123123123 121212 112233 222222 333333 555555 654321 666666 696969 777777 888888
987654321 999999 asdfgh asdfghjkl asdf1234 zxcvbnm zxcvbn qwe123 q1w2e3r4 123qwe 123abc 123321 147258369 159753 555666
google facebook license keyward test test123 testing test1234 guest user user123 demo demo123 hello hello123 ninja
mustang corvette mercedes ferrari yankees liverpool chelsea arsenal barcelona samsung android apple lovely babygirl`.split(
    /\s+/,
  ),
)

export interface Strength {
  /** 0 (nothing typed) to 4. */
  score: 0 | 1 | 2 | 3 | 4
  label: string
  common: boolean
}

const labels = ['', 'Weak', 'Fair', 'Good', 'Strong']

/** A rough estimate from length and variety; repeats and sequences count little. */
export function measurePassword(password: string): Strength {
  if (password === '') return { score: 0, label: '', common: false }
  const plain = password.toLowerCase()
  if (common.has(plain) || common.has(plain.replace(/[\d!?.]+$/, ''))) {
    return { score: 1, label: 'Weak', common: true }
  }
  const variety =
    (/[a-z]/.test(password) ? 26 : 0) +
    (/[A-Z]/.test(password) ? 26 : 0) +
    (/\d/.test(password) ? 10 : 0) +
    (/[^A-Za-z\d]/.test(password) ? 32 : 0)
  let length = 0
  for (let index = 0; index < password.length; index++) {
    const step = index === 0 ? Number.NaN : password.charCodeAt(index) - password.charCodeAt(index - 1)
    length += Math.abs(step) <= 1 ? 0.25 : 1
  }
  const bits = length * Math.log2(variety)
  const score = bits < 32 ? 1 : bits < 50 ? 2 : bits < 68 ? 3 : 4
  return { score, label: labels[score]!, common: false }
}
