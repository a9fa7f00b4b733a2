import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { sdkVersion } from '@keyward/contract/sdk-version'
import { afterAll, describe, expect, test } from 'vitest'
import { toCpp, toCSharp, toJavaScript, toPython, toShell } from './literals.ts'
import { languages } from './snippets.ts'

const nasty = [
  `O'Brien & "Sons"`,
  'C:\\new\\u0041\\',
  'line one\nline two\r\nline three\ttab',
  'paragraph\u2028separator\u2029next\u0085line',
  'what??/ and ??) and ????',
  '</script><script>alert(1)</script><!--',
  '\u0001' + '7\u0000' + '0\u001bF',
  '$' + "{name} `tick` #{x} %s {0} $'",
  'Grüße, 世界, 🔑',
  'right\u202eleft\u200b\ufeff',
  '*/ // # """ \'\'\' """',
  '',
]
const folder = mkdtempSync(join(tmpdir(), 'keyward-snippets-'))
afterAll(() => rmSync(folder, { recursive: true }))

const has = (file: string, ...args: string[]) => spawnSync(file, args, { stdio: 'ignore' }).status === 0
const write = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const run = (file: string, ...args: string[]) => execFileSync(file, args, { cwd: folder, encoding: 'utf8' })
/** Every program prints the UTF-8 bytes of each text as hex, one line for each. */
const expected = nasty.map((text) => `${Buffer.from(text).toString('hex')}\n`).join('')

describe('a literal has the value of its text, whatever the text is', () => {
  test('in JavaScript, and cannot end a script', () => {
    for (const text of [...nasty, 'lone \ud800 surrogate']) {
      const literal = toJavaScript(text)
      expect(runInNewContext(literal)).toBe(text)
      expect(literal).not.toMatch(/<\/|<!|[\n\r\u2028\u2029]/)
    }
  })

  test.skipIf(!has('python3', '--version'))('in Python', () => {
    const lines = nasty.map((text) => `print(${toPython(text)}.encode("utf-8").hex())`)
    expect(run('python3', write('literals.py', lines.join('\n')))).toBe(expected)
    expect(toPython('lone \ud800')).toBe('"lone \\U0000d800"')
  })

  test.skipIf(!has('g++', '--version'))('in C++, with and without trigraphs', () => {
    const lines = nasty.map((text) => `  show(std::string(${toCpp(text)}, ${Buffer.byteLength(text)}));`)
    const source = write(
      'literals.cpp',
      `#include <cstdio>
#include <string>
void show(const std::string &text) {
  for (unsigned char byte : text) std::printf("%02x", byte);
  std::printf("\\n");
}
int main() {
${lines.join('\n')}
}
`,
    )
    for (const trigraphs of ['-std=c++17', '-std=c++14']) {
      run('g++', trigraphs, '-Wall', '-Werror', source, '-o', 'literals')
      expect(run(join(folder, 'literals'))).toBe(expected)
    }
  })

  test.skipIf(!has('mcs', '--version') || !has('mono', '--version'))('in C#', () => {
    const lines = nasty.map((text) => `    Show(${toCSharp(text)});`)
    const source = write(
      'literals.cs',
      `using System;
using System.Text;
static class Program {
  static void Show(string text) {
    Console.WriteLine(BitConverter.ToString(Encoding.UTF8.GetBytes(text)).Replace("-", "").ToLowerInvariant());
  }
  static void Main() {
${lines.join('\n')}
  }
}
`,
    )
    run('mcs', source, '-out:literals.exe')
    expect(run('mono', join(folder, 'literals.exe'))).toBe(expected)
  })

  test.skipIf(!has('sh', '-c', ':'))('in a shell', () => {
    for (const text of nasty.filter((text) => !text.includes('\u0000'))) {
      expect(run('sh', '-c', `printf %s ${toShell(text)}`)).toBe(text)
    }
    const plain = 'https://licenses.example.com:8443/tools/sdk/1.2.3/keyward.hpp'
    expect(toShell(plain)).toBe(plain)
  })
})

describe.each(languages)('the snippet in $label', ({ install, code, file }) => {
  const baseUrl = 'https://licenses.example.com/tools'
  const app = { appId: 'k3yw4rd1', appSecret: 's'.repeat(32), version: '1.0.0' }

  test('starts with the line that installs the SDK of this server', () => {
    expect(install(baseUrl)).toMatch(
      new RegExp(`^(npm install|pip install|curl -fO) ${baseUrl}/sdk/${sdkVersion}/[Kk]eyward[\\w.-]*$`),
    )
    expect(file).toMatch(/^\w+\.\w+$/)
  })

  test('has all values of the app and every key', () => {
    const keys = ['one', 'two'].map((kid) => ({ kty: 'OKP', crv: 'Ed25519', kid, x: `x-of-${kid}` }))
    const text = code({ app, keys, baseUrl })
    for (const value of [
      baseUrl,
      app.appId,
      app.appSecret,
      app.version,
      'one',
      'x-of-one',
      'two',
      'x-of-two',
    ]) {
      expect(text).toContain(value)
    }
  })

  test('never ends a literal early', () => {
    const version = `1.0"'\\\n??/</script>`
    const text = code({ app: { ...app, version }, keys: [{ kid: version }], baseUrl: `https://x/${version}` })
    const harmless = code({ app, keys: [{ kid: 'k' }], baseUrl })
    expect(text.split('\n')).toHaveLength(harmless.split('\n').length)
    if (file.endsWith('.mjs')) expect(text).not.toContain('</script>')
    if (file.endsWith('.cpp')) expect(text).not.toContain('??/')
  })
})
