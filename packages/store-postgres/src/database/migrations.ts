// The schema, as numbered migrations. A migration that was released never changes; the next change is a new one.

const BASE = `
CREATE TABLE facts (key text PRIMARY KEY, value bigint NOT NULL);
CREATE TABLE identity (id text NOT NULL, created bigint NOT NULL);

CREATE TABLE chunks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  size integer NOT NULL, codec smallint NOT NULL, data bytea NOT NULL);
-- Compressed already.
ALTER TABLE chunks ALTER data SET STORAGE EXTERNAL;
CREATE TABLE contents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  size bigint NOT NULL, type text NOT NULL CHECK (type IN ('text', 'binary')),
  added bigint NOT NULL, kept_until bigint);
CREATE TABLE content_chunks (
  content bigint NOT NULL REFERENCES contents ON DELETE CASCADE, position integer NOT NULL,
  chunk bigint NOT NULL REFERENCES chunks, PRIMARY KEY (content, position));
CREATE INDEX content_chunks_by_chunk ON content_chunks (chunk);
CREATE TABLE uploads (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, touched bigint NOT NULL);
CREATE TABLE upload_chunks (
  upload bigint NOT NULL REFERENCES uploads ON DELETE CASCADE, position integer NOT NULL,
  chunk bigint NOT NULL REFERENCES chunks, PRIMARY KEY (upload, position));
CREATE INDEX upload_chunks_by_chunk ON upload_chunks (chunk);

CREATE TABLE collections (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE,
  created bigint NOT NULL, documents bigint NOT NULL DEFAULT 0, bytes bigint NOT NULL DEFAULT 0);
CREATE TABLE roots (collection integer NOT NULL REFERENCES collections, path text COLLATE "C" NOT NULL, added bigint NOT NULL);
CREATE UNIQUE INDEX roots_by_path ON roots (collection, md5(path));
CREATE TABLE documents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  collection integer NOT NULL REFERENCES collections,
  path text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, title text, root text COLLATE "C",
  state text NOT NULL CHECK (state IN ('live', 'removed', 'trash')), state_since bigint NOT NULL,
  version bigint NOT NULL DEFAULT 0,
  created bigint NOT NULL, modified bigint NOT NULL, indexed bigint NOT NULL,
  inode bigint, checked bigint, seq bigint NOT NULL);
-- A path can be longer than an index row.
CREATE UNIQUE INDEX documents_by_place ON documents (collection, md5(path));
CREATE INDEX documents_by_path ON documents (md5(path));
CREATE INDEX documents_by_prefix ON documents (left(path, 400));
CREATE INDEX documents_by_name ON documents (left(name, 400));
CREATE INDEX documents_in_trash ON documents (state_since) WHERE state = 'trash';
CREATE TABLE versions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  document bigint NOT NULL REFERENCES documents, number integer NOT NULL, content bigint NOT NULL REFERENCES contents,
  mode integer, mtime bigint, added bigint NOT NULL, seq_from bigint NOT NULL, seq_to bigint);
CREATE INDEX versions_by_document ON versions (document, seq_from);
CREATE INDEX versions_by_content ON versions (content);
CREATE INDEX versions_by_seq_from ON versions (seq_from);
CREATE INDEX versions_by_seq_to ON versions (seq_to) WHERE seq_to IS NOT NULL;
CREATE TABLE document_tags (
  document bigint NOT NULL REFERENCES documents ON DELETE CASCADE, tag text COLLATE "C" NOT NULL, PRIMARY KEY (document, tag));
CREATE INDEX document_tags_by_tag ON document_tags (tag);
CREATE TABLE document_metadata (
  document bigint NOT NULL REFERENCES documents ON DELETE CASCADE, key text COLLATE "C" NOT NULL, value text NOT NULL,
  PRIMARY KEY (document, key));
CREATE TABLE snapshots (
  id text PRIMARY KEY, collection integer NOT NULL REFERENCES collections, label text,
  created bigint NOT NULL, seq bigint NOT NULL, documents bigint NOT NULL, bytes bigint NOT NULL);
CREATE INDEX snapshots_by_collection ON snapshots (collection, seq);
CREATE TABLE sessions (id text COLLATE "C" PRIMARY KEY, label text, started bigint NOT NULL, stopped bigint);
CREATE TABLE session_documents (
  session text COLLATE "C" NOT NULL REFERENCES sessions, document bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
  change text NOT NULL CHECK (change IN ('added', 'changed', 'removed')), PRIMARY KEY (session, document));
CREATE INDEX session_documents_by_document ON session_documents (document);
CREATE TABLE pins (
  session text COLLATE "C" NOT NULL REFERENCES sessions, content bigint NOT NULL REFERENCES contents, pinned bigint NOT NULL,
  PRIMARY KEY (session, content));
CREATE INDEX pins_by_content ON pins (content);
`;

/** What a principal can see: all tables that an answer is read from have a view that hides the results of others. */
const VIEWS = `
CREATE FUNCTION viewer() RETURNS text LANGUAGE sql STABLE AS $$ SELECT nullif(current_setting('trunkline.viewer', true), '') $$;
CREATE VIEW seen_collections AS
  SELECT id, (CASE WHEN name = 'results@' || trunkline.viewer() THEN 'results' ELSE name END) COLLATE "C" AS name,
    created, documents, bytes
  FROM collections
  WHERE trunkline.viewer() IS NULL OR NOT (name = 'results' OR starts_with(name, 'results@'))
    OR name = 'results@' || trunkline.viewer();
CREATE VIEW seen_documents AS
  SELECT * FROM documents d WHERE trunkline.viewer() IS NULL OR d.collection IN (SELECT id FROM seen_collections);
CREATE VIEW seen_snapshots AS
  SELECT * FROM snapshots s WHERE trunkline.viewer() IS NULL OR s.collection IN (SELECT id FROM seen_collections);
CREATE VIEW seen_contents AS
  SELECT * FROM contents c WHERE trunkline.viewer() IS NULL OR EXISTS (
    SELECT 1 FROM versions v JOIN seen_documents d ON d.id = v.document WHERE v.content = c.id);
CREATE VIEW seen_sessions AS
  SELECT * FROM sessions s WHERE trunkline.viewer() IS NULL
    OR (length(s.id) = length(trunkline.viewer()) + 21 AND starts_with(s.id, 'ses-' || trunkline.viewer() || '-'));
`;

/** Derived from documents, so it can be built again. An entry is one searchable version of a document. */
const INDEX = `
CREATE TABLE entries (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  document bigint NOT NULL, version bigint NOT NULL, content bigint NOT NULL,
  -- 0: gone, 1: only in a snapshot, 2: live.
  state smallint NOT NULL, results boolean NOT NULL, kind smallint NOT NULL,
  texts integer NOT NULL, length bigint NOT NULL, seq bigint NOT NULL,
  -- False when gc has removed the postings of an entry that is gone.
  has_postings boolean NOT NULL DEFAULT true);
CREATE INDEX entries_by_document ON entries (document);
CREATE INDEX entries_by_version ON entries (version);
CREATE INDEX entries_by_content ON entries (content);
CREATE INDEX entries_by_seq ON entries (seq, id);
CREATE INDEX entries_to_clean ON entries (id) WHERE state = 0 AND has_postings;
-- The words of new entries. They move to blocks of 1024 entries in the background, in the order of their ids: those up to
-- the fact 'merged' are in blocks, those after it are here.
CREATE TABLE keyword_recent (entry integer PRIMARY KEY, data bytea NOT NULL);
ALTER TABLE keyword_recent ALTER data SET STORAGE EXTERNAL;
CREATE TABLE keyword_blocks (term text COLLATE "C" NOT NULL, block integer NOT NULL, data bytea NOT NULL, PRIMARY KEY (term, block));
ALTER TABLE keyword_blocks ALTER data SET STORAGE EXTERNAL;
CREATE TABLE words (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, word text COLLATE "C" NOT NULL UNIQUE);
-- The trigrams of words. A row for each: GIN finds words that share one, but cannot count how many they share.
CREATE TABLE word_grams (gram text COLLATE "C" NOT NULL, word integer NOT NULL, PRIMARY KEY (gram, word));
-- Texts for grep, with ASCII in lower case.
CREATE TABLE texts (content bigint PRIMARY KEY REFERENCES contents ON DELETE CASCADE, body text COLLATE "C");
CREATE INDEX texts_by_trigram ON texts USING gin (body gin_trgm_ops);

CREATE TABLE graph_files (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, document bigint NOT NULL UNIQUE, entry integer NOT NULL,
  collection integer NOT NULL, path text COLLATE "C" NOT NULL, hash bytea NOT NULL, facts bytea NOT NULL,
  is_pending boolean NOT NULL);
CREATE INDEX graph_files_by_path ON graph_files (md5(path));
CREATE INDEX graph_files_pending ON graph_files (id) WHERE is_pending;
CREATE TABLE graph_symbols (
  file integer NOT NULL REFERENCES graph_files ON DELETE CASCADE, position integer NOT NULL,
  key text COLLATE "C" NOT NULL, kind text NOT NULL, name text COLLATE "C" NOT NULL, PRIMARY KEY (file, position));
CREATE INDEX graph_symbols_by_name ON graph_symbols (left(name, 200));
CREATE INDEX graph_symbols_by_kind ON graph_symbols (kind);
CREATE TABLE graph_edges (
  file integer NOT NULL REFERENCES graph_files ON DELETE CASCADE, position integer NOT NULL,
  from_key text COLLATE "C" NOT NULL, to_key text COLLATE "C" NOT NULL, relation text NOT NULL, line integer,
  is_resolved boolean NOT NULL, PRIMARY KEY (file, position));
CREATE INDEX graph_edges_from ON graph_edges USING hash (from_key);
CREATE INDEX graph_edges_to ON graph_edges USING hash (to_key);
-- The lookup keys that a document provides and those it depends on.
CREATE TABLE graph_provides (file integer NOT NULL REFERENCES graph_files ON DELETE CASCADE, key text COLLATE "C" NOT NULL);
CREATE INDEX graph_provides_by_key ON graph_provides USING hash (key);
CREATE INDEX graph_provides_by_file ON graph_provides (file);
CREATE TABLE graph_depends (file integer NOT NULL REFERENCES graph_files ON DELETE CASCADE, key text COLLATE "C" NOT NULL);
CREATE INDEX graph_depends_by_key ON graph_depends USING hash (key);
CREATE INDEX graph_depends_by_file ON graph_depends (file);

CREATE TABLE embedders (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, model text NOT NULL UNIQUE, dimensions integer NOT NULL,
  entry integer NOT NULL DEFAULT 0, complete boolean NOT NULL DEFAULT false, used bigint NOT NULL DEFAULT 0);
CREATE TABLE passages (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, entry integer NOT NULL, number integer NOT NULL, hash bytea NOT NULL,
  from_line integer NOT NULL, to_line integer NOT NULL, UNIQUE (entry, number));
CREATE INDEX passages_by_hash ON passages (hash);
CREATE TABLE vectors (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, embedder integer NOT NULL REFERENCES embedders ON DELETE CASCADE,
  -- A signed byte for each dimension, and the signs as bits, which gateways keep in memory.
  hash bytea NOT NULL, vector bytea NOT NULL, signs bytea NOT NULL, UNIQUE (embedder, hash));

-- Work that writes leave for later. A gateway holds the row while it works, so the work of one that dies is free again.
-- Work that failed is due again later, by the clock of the database; what fails again and again is due at infinity.
CREATE TABLE jobs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, entry integer NOT NULL, attempts integer NOT NULL DEFAULT 0,
  due timestamptz NOT NULL DEFAULT '-infinity', problem text);
CREATE INDEX jobs_that_failed ON jobs (due) WHERE attempts > 0;
-- Documents that a tool has written. They are not in the graph and not embedded.
CREATE TABLE words_only (entry integer PRIMARY KEY, kind text NOT NULL);

INSERT INTO facts VALUES ('seq', 0), ('merged', 0);
INSERT INTO collections (name, created) VALUES ('default', (extract(epoch FROM now()) * 1000)::bigint);
INSERT INTO identity VALUES (gen_random_uuid()::text, (extract(epoch FROM now()) * 1000)::bigint);
`;

/** What gateways share besides documents. Times are those of the database. */
const TEAM = `
-- A gateway that lives holds the advisory lock with this number on a connection of its own.
CREATE TABLE gateways (
  name text COLLATE "C" PRIMARY KEY, run text NOT NULL, lock bigint NOT NULL,
  seen timestamptz NOT NULL DEFAULT now(), gone timestamptz);
CREATE TABLE gateway_messages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, recipient text COLLATE "C" NOT NULL, sender text COLLATE "C" NOT NULL,
  exchange text NOT NULL, number integer NOT NULL, kind text NOT NULL, body bytea NOT NULL,
  sent timestamptz NOT NULL DEFAULT now());
CREATE INDEX gateway_messages_by_recipient ON gateway_messages (recipient, id);
CREATE TABLE ended_tasks (
  id text COLLATE "C" PRIMARY KEY, principal text COLLATE "C" NOT NULL, detail bytea NOT NULL,
  ended timestamptz NOT NULL DEFAULT now(), expires timestamptz NOT NULL);
CREATE INDEX ended_tasks_by_principal ON ended_tasks (principal, ended);
CREATE INDEX ended_tasks_by_expiry ON ended_tasks (expires);
-- Batches with an idempotency key. Without a gateway and a result, the outcome is unknown.
CREATE TABLE batches (
  principal text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, batch text NOT NULL,
  gateway text COLLATE "C", run text, result bytea, expires timestamptz NOT NULL, PRIMARY KEY (principal, id));
CREATE INDEX batches_by_expiry ON batches (expires);
`;

/** What gateways were asked, for `trunkline log` and the console. */
const JOURNAL = `
CREATE TABLE journal (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(), line text NOT NULL);
`;

/** Migration `n` makes version `n + 1` from version `n`. Version 0 is an empty schema. */
export const MIGRATIONS: readonly string[] = [BASE + VIEWS + INDEX + TEAM + JOURNAL];
