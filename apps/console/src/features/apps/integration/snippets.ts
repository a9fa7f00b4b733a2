import type { App } from '@keyward/contract'
import { sdkVersion } from '@keyward/contract/sdk-version'
import { toCpp, toCSharp, toJavaScript, toPython, toShell } from './literals.ts'

type Key = Record<string, unknown>

/** What a program needs to know about its app. */
interface Subject {
  app: Pick<App, 'appId' | 'version'> & { appSecret: string }
  keys: readonly object[]
  /** The server's public address. */
  baseUrl: string
}

export interface Language {
  id: string
  label: string
  /** The file that the snippet is for. */
  file: string
  /** The command that installs the SDK from this server. */
  install(baseUrl: string): string
  code(subject: Subject): string
}

const served = (baseUrl: string, name: string) => toShell(`${baseUrl}/sdk/${sdkVersion}/${name}`)

const members = (key: object) =>
  Object.entries(key as Key).map(([name, value]) => [name, `${value}`] as const)

const typescript: Language = {
  id: 'typescript',
  label: 'JavaScript',
  file: 'license.mjs',
  install: (baseUrl) => `npm install ${served(baseUrl, `keyward-sdk-${sdkVersion}.tgz`)}`,
  code({ app, keys, baseUrl }) {
    const publicKeys = keys.map((key) => {
      const parts = members(key).map(([name, value]) => `      ${name}: ${toJavaScript(value)},`)
      return `    {\n${parts.join('\n')}\n    },`
    })
    return `import { Keyward } from '@keyward/sdk'

const keyward = new Keyward({
  baseUrl: ${toJavaScript(baseUrl)},
  appId: ${toJavaScript(app.appId)},
  secret: ${toJavaScript(app.appSecret)},
  publicKeys: [
${publicKeys.join('\n')}
  ],
  version: ${toJavaScript(app.version)},
})

await keyward.init()

const key = process.argv[2] ?? '' // the license key that your user typed in
const result = await keyward.license(key)

if (!result.ok) {
  console.error(result.message)
  process.exit(1)
}
console.log(\`Licensed until \${result.user.expiresAt ?? 'further notice'}\`)
`
  },
}

const python: Language = {
  id: 'python',
  label: 'Python',
  file: 'license.py',
  install: (baseUrl) => `pip install ${served(baseUrl, `keyward-${sdkVersion}-py3-none-any.whl`)}`,
  code({ app, keys, baseUrl }) {
    const publicKeys = keys.map((key) => {
      const parts = members(key).map(([name, value]) => `            ${toPython(name)}: ${toPython(value)},`)
      return `        {\n${parts.join('\n')}\n        },`
    })
    return `import sys

from keyward import Keyward

keyward = Keyward(
    base_url=${toPython(baseUrl)},
    app_id=${toPython(app.appId)},
    secret=${toPython(app.appSecret)},
    public_keys=[
${publicKeys.join('\n')}
    ],
    version=${toPython(app.version)},
)

key = sys.argv[1] if len(sys.argv) > 1 else ""  # the license key that your user typed in
result = keyward.license(key)

if not result.ok:
    print(result.message, file=sys.stderr)
    sys.exit(1)
print("Licensed until", result.user.expires_at or "further notice")
`
  },
}

const cpp: Language = {
  id: 'cpp',
  label: 'C++',
  file: 'license.cpp',
  install: (baseUrl) => `curl -fO ${served(baseUrl, 'keyward.hpp')}`,
  code({ app, keys, baseUrl }) {
    return `// Debian and Ubuntu: apt install g++ libcurl4-openssl-dev
// g++ -std=c++17 license.cpp -o license -lcurl -pthread
#include <iostream>
#include <string>

#include "keyward.hpp"

int main(int argc, char **argv) {
  keyward::Options options;
  options.baseUrl = ${toCpp(baseUrl)};
  options.appId = ${toCpp(app.appId)};
  options.secret = ${toCpp(app.appSecret)};
  options.publicKeys =
      ${toCpp(JSON.stringify(keys))};
  options.version = ${toCpp(app.version)};
  keyward::Client client(options);

  const std::string key = argc > 1 ? argv[1] : "";  // the license key that your user typed in
  const auto result = client.license(key);

  if (!result.ok) {
    std::cerr << result.message << std::endl;
    return 1;
  }
  std::cout << "Licensed until " << result.user.expiresAt.value_or("further notice") << std::endl;
}
`
  },
}

const csharp: Language = {
  id: 'csharp',
  label: 'C#',
  file: 'License.cs',
  install: (baseUrl) => `curl -fO ${served(baseUrl, 'Keyward.cs')}`,
  code({ app, keys, baseUrl }) {
    return `// mcs -r:System.Net.Http -r:System.Numerics License.cs Keyward.cs && mono License.exe
using System;
using Keyward;

static class Program
{
    static int Main(string[] args)
    {
        var keyward = new KeywardClient(new KeywardOptions
        {
            BaseUrl = ${toCSharp(baseUrl)},
            AppId = ${toCSharp(app.appId)},
            Secret = ${toCSharp(app.appSecret)},
            PublicKeys =
                ${toCSharp(JSON.stringify(keys))},
            Version = ${toCSharp(app.version)},
        });

        var key = args.Length > 0 ? args[0] : ""; // the license key that your user typed in
        var result = keyward.LicenseAsync(key).GetAwaiter().GetResult();

        if (!result.Ok)
        {
            Console.Error.WriteLine(result.Message);
            return 1;
        }
        Console.WriteLine("Licensed until " + (result.User.ExpiresAt?.ToString("u") ?? "further notice"));
        return 0;
    }
}
`
  },
}

export const languages: readonly [Language, ...Language[]] = [typescript, python, cpp, csharp]
