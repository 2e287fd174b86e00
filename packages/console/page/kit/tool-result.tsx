// The result of a tool. Everything in it is the server's: texts are shown as texts, pictures and sounds only if they are
// of a known type, and nothing is fetched.
import "./tool-result.css";
import type { Json, ToolAnswer } from "@trunkline/console/contract";
import { useMemo, useState } from "preact/hooks";
import { isObject, jsonIn } from "./form-values.js";
import { JsonTree } from "./json-tree.js";
import { Badge, Button, Choice, Code, CopyButton, Facts, Notice } from "./parts.js";
import { shownBytes, shownCount, shownMs, visible } from "./wording.js";

/** An SVG in an image element runs no scripts and loads nothing. */
const IMAGES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
  "image/svg+xml",
]);
const SOUNDS: ReadonlySet<string> = new Set([
  "audio/wav",
  "audio/x-wav",
  "audio/wave",
  "audio/mpeg",
  "audio/mp3",
  "audio/mp4",
  "audio/aac",
  "audio/ogg",
  "audio/webm",
  "audio/flac",
]);
/** A text up to this size is looked at for JSON. */
const MAX_JSON_CHARS = 2_000_000;
const FIRST_CHARS = 10_000;
const MAX_BLOCKS = 50;

type Block = Readonly<Record<string, Json>>;

export function ToolResult({ answer }: { readonly answer: ToolAnswer }) {
  const { content, structured, isError, durationMs, note } = answer;
  const [count, setCount] = useState(MAX_BLOCKS);
  // Servers repeat structured content as text, for clients that do not know it.
  const blocks = useMemo(
    () => content.filter((block) => structured === undefined || !repeats(block, structured)),
    [content, structured],
  );
  return (
    <div class="tool-result" aria-live="polite">
      <div class="line">
        <Badge tone={isError ? "bad" : "ok"}>{isError ? "Failed" : "Done"}</Badge>
        <span class="dim number">{shownMs(durationMs)}</span>
      </div>
      {note !== undefined && <Notice tone="warn">{visible(note)}</Notice>}
      {structured !== undefined && (
        <figure>
          <figcaption>
            Structured content
            <CopyButton text={JSON.stringify(structured, null, 2)} />
          </figcaption>
          <div class="box-json">
            <JsonTree value={structured} />
          </div>
        </figure>
      )}
      {blocks.slice(0, count).map((block, index) => (
        <ContentBlock key={index} block={block} isError={isError} />
      ))}
      {blocks.length > count && (
        <Button small onClick={() => setCount(count + MAX_BLOCKS)}>
          {`Show ${shownCount(Math.min(MAX_BLOCKS, blocks.length - count))} of ${shownCount(blocks.length - count)} more blocks`}
        </Button>
      )}
      {blocks.length === 0 && structured === undefined && <p class="dim">The result is empty.</p>}
    </div>
  );
}

function repeats(block: Json, structured: Json): boolean {
  if (!isObject(block) || block.type !== "text" || typeof block.text !== "string") return false;
  if (block.text.length > MAX_JSON_CHARS) return false;
  const value = jsonIn(block.text);
  return value !== undefined && JSON.stringify(value) === JSON.stringify(structured);
}

function ContentBlock({ block, isError }: { readonly block: Json; readonly isError: boolean }) {
  if (!isObject(block)) return <Unknown value={block} />;
  const { type, text, data, mimeType, resource } = block;
  switch (type) {
    case "text":
      return <Text text={textIn(text)} about={aboutOf(block)} isError={isError} />;
    case "image":
    case "audio":
      return <Media kind={type} data={textIn(data)} mimeType={textIn(mimeType)} about={aboutOf(block)} />;
    case "resource_link":
      return <Link block={block} />;
    case "resource":
      return isObject(resource) ? <Resource resource={resource} /> : <Unknown value={block} />;
    default:
      return <Unknown value={block} />;
  }
}

function textIn(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** What a block says about itself: for whom it is, and how important. */
function aboutOf({ annotations }: Block): string | undefined {
  if (!isObject(annotations)) return undefined;
  const { audience, priority } = annotations;
  const parts = [
    Array.isArray(audience) ? `for ${audience.filter((each) => typeof each === "string").join(" and ")}` : "",
    typeof priority === "number" ? `priority ${priority}` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? undefined : visible(parts.join(", ").slice(0, 200));
}

function Text(props: { readonly text: string; readonly about?: string; readonly isError?: boolean }) {
  const { text, about, isError } = props;
  const value = useMemo(() => (mayBeJson(text) ? jsonIn(text) : undefined), [text]);
  const [view, setView] = useState<"tree" | "text">("tree");
  const isTree = value !== undefined && view === "tree";
  return (
    <figure class={isError ? "failed" : undefined}>
      <figcaption>
        {value === undefined ? "Text" : "Text with JSON"}
        {about !== undefined && <span class="dim">{about}</span>}
        {value !== undefined && (
          <Choice
            label="Show as"
            value={view}
            onChange={setView}
            options={[
              { value: "tree", label: "Tree" },
              { value: "text", label: "Text" },
            ]}
          />
        )}
        <CopyButton text={text} />
      </figcaption>
      {isTree ? (
        <div class="box-json">
          <JsonTree value={value} />
        </div>
      ) : (
        <LongCode text={text} />
      )}
    </figure>
  );
}

function mayBeJson(text: string): boolean {
  return text.length <= MAX_JSON_CHARS && /^\s*[[{]/.test(text);
}

/** A text of any length, cut until more is wanted. */
function LongCode({ text }: { readonly text: string }) {
  const [limit, setLimit] = useState(FIRST_CHARS);
  return (
    <>
      <Code text={text.slice(0, limit)} />
      {text.length > limit && (
        <div class="more">
          <Button small onClick={() => setLimit(limit * 10)}>
            Show more
          </Button>
          <span class="dim">{shownCount(text.length - limit)} more characters</span>
        </div>
      )}
    </>
  );
}

function Media(props: {
  readonly kind: "image" | "audio";
  readonly data: string;
  readonly mimeType: string;
  readonly about?: string;
}) {
  const { kind, data, about } = props;
  const [isBroken, setBroken] = useState(false);
  const type = props.mimeType.toLowerCase();
  const isKnown = (kind === "image" ? IMAGES : SOUNDS).has(type) && /^[\w+/=\s-]*$/.test(data);
  const url = `data:${type};base64,${data}`;
  const size = shownBytes(Math.floor((data.length * 3) / 4));
  return (
    <figure>
      <figcaption>
        {kind === "image" ? "Image" : "Audio"}
        <span class="dim">
          {visible(type.slice(0, 100))}, {size}
          {about === undefined ? "" : `, ${about}`}
        </span>
      </figcaption>
      {!isKnown ? (
        <p class="dim">This type is not shown.</p>
      ) : isBroken ? (
        <p class="dim">This {kind === "image" ? "image" : "sound"} is damaged.</p>
      ) : kind === "image" ? (
        <img src={url} alt={`The server's result, ${type}`} onError={() => setBroken(true)} />
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: a server's sound has no captions
        <audio controls src={url} onError={() => setBroken(true)} />
      )}
    </figure>
  );
}

function Link({ block }: { readonly block: Block }) {
  const uri = textIn(block.uri);
  const rows = (["title", "name", "description", "mimeType"] as const).map(
    (name) => [LINK_FACTS[name], visible(textIn(block[name]).slice(0, 2_000))] as const,
  );
  return (
    <figure>
      <figcaption>
        Link to a resource
        <CopyButton text={uri} label="Copy address" />
      </figcaption>
      <Code text={uri.slice(0, FIRST_CHARS)} />
      <Facts rows={[...rows, ["Size", typeof block.size === "number" && shownBytes(block.size)]]} />
    </figure>
  );
}

const LINK_FACTS = { title: "Title", name: "Name", description: "About", mimeType: "Type" } as const;

function Resource({ resource }: { readonly resource: Block }) {
  const { uri, mimeType, text, blob } = resource;
  const about = visible(
    [textIn(uri), textIn(mimeType)]
      .filter((part) => part !== "")
      .join(", ")
      .slice(0, 500),
  );
  if (typeof text === "string") return <Text text={text} about={about} />;
  const type = textIn(mimeType).toLowerCase();
  if (typeof blob === "string" && (IMAGES.has(type) || SOUNDS.has(type))) {
    return (
      <Media
        kind={IMAGES.has(type) ? "image" : "audio"}
        data={blob}
        mimeType={type}
        about={visible(textIn(uri).slice(0, 500))}
      />
    );
  }
  return (
    <figure>
      <figcaption>
        Resource <span class="dim">{about}</span>
      </figcaption>
      <p class="dim">
        {typeof blob === "string"
          ? `${shownBytes(Math.floor((blob.length * 3) / 4))}, not shown.`
          : "It has no content."}
      </p>
    </figure>
  );
}

function Unknown({ value }: { readonly value: Json }) {
  return (
    <figure>
      <figcaption>Unknown content</figcaption>
      <div class="box-json">
        <JsonTree value={value} />
      </div>
    </figure>
  );
}
