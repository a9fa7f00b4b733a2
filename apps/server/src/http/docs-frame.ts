interface Frame {
  title: string
  /** Shown next to the product's name at the top. */
  subtitle: string
  description: string
  basePath: string
  /** List items with links to the parts of the page, as HTML. */
  nav: string
  /** The content, as HTML. */
  main: string
}

const logo = `<svg aria-hidden="true" viewBox="0 0 32 32" width="28" height="28"><rect width="32" height="32" rx="8" fill="#4353e0"/>
<g fill="none" stroke="#fff" stroke-width="3.2" stroke-linecap="round"><path d="M9.5 7.5v17M12.4 16l6-4.9M12.4 16l9.6 8.5"/>
<circle cx="21.2" cy="9.4" r="3.1" stroke-width="2.6"/></g></svg>`

/** A page of the documentation: no scripts, one style sheet. */
export const renderFrame = ({
  title,
  subtitle,
  description,
  basePath,
  nav,
  main,
}: Frame): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Keyward</title>
<meta name="description" content="${escapeHtml(description)}">
<link rel="stylesheet" href="${basePath}/docs/style.css">
</head>
<body>
<header><a href="${basePath}/">${logo}Keyward</a><span>${escapeHtml(subtitle)}</span></header>
<div class="page">
<nav aria-label="On this page"><ul>${nav}</ul></nav>
<main>${main}</main>
</div>
</body>
</html>`

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

export const docsStyle = `:root{color-scheme:light dark;--ink:#16181d;--soft:#565b67;--line:#e4e5ea;--paper:#fbfbfc;--tint:#f4f4f6;--accent:#3744cb}
@media(prefers-color-scheme:dark){:root{--ink:#eceef2;--soft:#a3a9b5;--line:#26282f;--paper:#0b0c0f;--tint:#17191e;--accent:#a5afff}}
*{box-sizing:border-box}body{margin:0;font:15px/1.6 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
a{color:var(--accent)}a:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
header{display:flex;gap:1rem;align-items:center;height:3.75rem;padding:0 max(1.5rem,calc((100% - 70rem)/2 + 1.5rem));border-bottom:1px solid var(--line)}
header a{display:flex;gap:.6rem;align-items:center;font-weight:650;color:inherit;text-decoration:none}header span{color:var(--soft)}
.page{display:grid;grid-template-columns:14rem minmax(0,1fr);max-width:70rem;margin:0 auto}
nav{position:sticky;top:0;align-self:start;padding:1.5rem}nav ul{list-style:none;margin:0;padding:0}nav li{margin:.35rem 0}nav a{color:var(--soft);text-decoration:none}nav a:hover{color:var(--ink);text-decoration:underline}
main{padding:1.5rem;min-width:0}h1{font-size:1.75rem;line-height:1.2}h2{margin-top:3rem;font-size:1.35rem}h3{font-size:1rem}h4{margin:.9rem 0 .3rem;font-size:.85rem;color:var(--soft)}
article{border:1px solid var(--line);border-radius:10px;padding:1rem 1.25rem;margin:1rem 0}article h3{margin:0;overflow-wrap:anywhere}
code{font:13px/1.5 ui-monospace,monospace;background:var(--tint);padding:.1em .35em;border-radius:4px; overflow-wrap:anywhere}
.method{display:inline-block;min-width:4.2rem;font:600 12px/1.6 ui-monospace,monospace}
.access{color:var(--soft)}table{width:100%;border-collapse:collapse;font-size:14px}th,td{text-align:left;padding:.35rem .5rem;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
th{font-weight:600;color:var(--soft)}em{color:var(--soft);font-style:normal;font-size:12px}summary{cursor:pointer;margin-top:.8rem;color:var(--soft)}
@media(max-width:768px){.page{grid-template-columns:1fr}header{padding:0 1rem}nav{position:static;padding:1rem 1rem 0}nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1rem}main{padding:1rem}article{padding:.9rem}}
pre{overflow-x:auto;background:var(--tint);border-radius:8px;padding:.8rem 1rem}pre code{background:none;padding:0;overflow-wrap:normal}
.command code{white-space:pre-wrap;overflow-wrap:anywhere;user-select:all}
.scroll{overflow-x:auto}`
