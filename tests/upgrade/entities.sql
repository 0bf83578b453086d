--
-- PostgreSQL database dump
--

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: pg_trgm; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

--
-- Name: EXTENSION pg_trgm; Type: COMMENT; Schema: -; Owner: -
--

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: apps; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.apps (
    id text NOT NULL COLLATE pg_catalog."C",
    organization text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL
);

ALTER TABLE ONLY public.apps FORCE ROW LEVEL SECURITY;

--
-- Name: changes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.changes (
    edit bigint NOT NULL,
    "position" bigint NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    organization text NOT NULL COLLATE pg_catalog."C",
    app text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C",
    before bytea,
    after bytea,
    added bigint NOT NULL,
    removed bigint NOT NULL,
    kept bigint NOT NULL
);

ALTER TABLE ONLY public.changes FORCE ROW LEVEL SECURITY;

--
-- Name: contents; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.contents (
    kind text NOT NULL COLLATE pg_catalog."C",
    organization text NOT NULL COLLATE pg_catalog."C",
    app text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL COLLATE pg_catalog."C",
    raw bytea
);

ALTER TABLE ONLY public.contents FORCE ROW LEVEL SECURITY;

--
-- Name: edits; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.edits (
    id bigint NOT NULL,
    organization text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    tool text NOT NULL,
    author text NOT NULL,
    request bytea NOT NULL,
    kind bigint NOT NULL,
    of bigint NOT NULL,
    gates text NOT NULL,
    undone bigint
);

ALTER TABLE ONLY public.edits FORCE ROW LEVEL SECURITY;

--
-- Name: entities; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.entities (
    kind text NOT NULL COLLATE pg_catalog."C",
    organization text NOT NULL COLLATE pg_catalog."C",
    app text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C",
    stamp bytea NOT NULL,
    size bigint NOT NULL,
    encoding text NOT NULL,
    revision bigint NOT NULL,
    author text NOT NULL,
    created bigint NOT NULL,
    changed bigint NOT NULL
)
WITH (fillfactor='80');

ALTER TABLE ONLY public.entities FORCE ROW LEVEL SECURITY;

--
-- Name: lines; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.lines (
    kind text NOT NULL COLLATE pg_catalog."C",
    organization text NOT NULL COLLATE pg_catalog."C",
    app text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C",
    part bigint NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C"
);

ALTER TABLE ONLY public.lines FORCE ROW LEVEL SECURITY;

--
-- Name: lockgate_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.lockgate_migrations (
    version bigint NOT NULL,
    description text NOT NULL,
    installed_on timestamp with time zone DEFAULT now() NOT NULL,
    success boolean NOT NULL,
    checksum bytea NOT NULL,
    execution_time bigint NOT NULL
);

--
-- Name: meta; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.meta (
    name text NOT NULL COLLATE pg_catalog."C",
    value bigint NOT NULL
);

--
-- Name: texts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.texts (
    kind text NOT NULL COLLATE pg_catalog."C",
    organization text NOT NULL COLLATE pg_catalog."C",
    app text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C",
    stamp bytea NOT NULL,
    at bigint NOT NULL,
    size bigint NOT NULL,
    packed bytea NOT NULL
);
ALTER TABLE ONLY public.texts ALTER COLUMN packed SET STORAGE EXTERNAL;

ALTER TABLE ONLY public.texts FORCE ROW LEVEL SECURITY;

--
-- Data for Name: apps; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.apps (id, organization, at) FROM stdin;
\.

--
-- Data for Name: changes; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.changes (edit, "position", at, kind, organization, app, path, before, after, added, removed, kept) FROM stdin;
456046800433669132	0	1795693880213145	workflow	acme		a.py	\N	\\x38853a8b9b2e06ef42efaea147812de9a5cf8a8206fbdf5f51328ad99cfda3ba	3	0	1
781676603210987873	0	1795693880343547	workflow	acme		a.py	\\x38853a8b9b2e06ef42efaea147812de9a5cf8a8206fbdf5f51328ad99cfda3ba	\\xbf87cedd68e8e6775dded63945f9e9191d01187e34f9e630aed5c868df5cfeb4	1	1	1
168034819522293936	0	1795693880489358	module			b.py	\N	\\x5d4ab1e2034719a034f5916dc093235acf0db6ebaff41839867866acd9131eb9	1	0	1
\.

--
-- Data for Name: contents; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.contents (kind, organization, app, path, text, raw) FROM stdin;
workflow	acme		a.py	@workflow\ndef f():\n    return 2\n	\N
module			b.py	b = 1\n	\N
\.

--
-- Data for Name: edits; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.edits (id, organization, at, tool, author, request, kind, of, gates, undone) FROM stdin;
456046800433669132	acme	1795693880213145	lockgate store import	command line	\\xc97f8a0ab6a167cb2b8e7a612d4ecc4c8f010b7722782e15a2d3cb58e02a910b	0	0	damage passed, syntax passed	\N
781676603210987873	acme	1795693880343547	lockgate store import	command line	\\x915ade28a95f4b3a8f9ce6463001d7d2e072b2057484dadf5611371d577d8018	0	0	damage passed, syntax passed	\N
168034819522293936		1795693880489358	lockgate store import	command line	\\x4231fbb73d2942b5c4e82e0cedd861c25f055464b2ecb438052e771efedb4bad	0	0	damage passed, syntax passed	\N
\.

--
-- Data for Name: entities; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.entities (kind, organization, app, path, stamp, size, encoding, revision, author, created, changed) FROM stdin;
workflow	acme		a.py	\\xbf87cedd68e8e6775dded63945f9e9191d01187e34f9e630aed5c868df5cfeb4	32	UTF-8	2	command line	1795693880213145	1795693880343547
module			b.py	\\x5d4ab1e2034719a034f5916dc093235acf0db6ebaff41839867866acd9131eb9	6	UTF-8	1	command line	1795693880489358	1795693880489358
\.

--
-- Data for Name: lines; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.lines (kind, organization, app, path, part, text) FROM stdin;
workflow	acme		a.py	1795693880343547	@workflow\ndef f():\n    return 2\n
module			b.py	1795693880489358	b = 1\n
\.

--
-- Data for Name: lockgate_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.lockgate_migrations (version, description, installed_on, success, checksum, execution_time) FROM stdin;
1	content	2026-11-26 11:51:20.024676+00	t	\\xad5550890c6811f250e0d7019af0dbb048af79ac9c065d5e946956b308463fb6f9f304e80b46b979536aeb806c784fbe	42590320
\.

--
-- Data for Name: meta; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.meta (name, value) FROM stdin;
journal	41269
\.

--
-- Data for Name: texts; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.texts (kind, organization, app, path, stamp, at, size, packed) FROM stdin;
workflow	acme		a.py	\\x38853a8b9b2e06ef42efaea147812de9a5cf8a8206fbdf5f51328ad99cfda3ba	1795693880213145	57	\\x0000003540776f726b666c6f770a646566206628293a0a2020202072657475726e203120202320697427732061205c5c20616e64202262220a
workflow	acme		a.py	\\xbf87cedd68e8e6775dded63945f9e9191d01187e34f9e630aed5c868df5cfeb4	1795693880343547	36	\\x0000002040776f726b666c6f770a646566206628293a0a2020202072657475726e20320a
module			b.py	\\x5d4ab1e2034719a034f5916dc093235acf0db6ebaff41839867866acd9131eb9	1795693880489358	10	\\x0000000662203d20310a
\.

--
-- Name: apps apps_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (id);

--
-- Name: changes changes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (edit, "position");

--
-- Name: contents contents_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.contents
    ADD CONSTRAINT contents_pkey PRIMARY KEY (kind, organization, app, path);

--
-- Name: edits edits_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.edits
    ADD CONSTRAINT edits_pkey PRIMARY KEY (id);

--
-- Name: entities entities_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.entities
    ADD CONSTRAINT entities_pkey PRIMARY KEY (kind, organization, app, path);

--
-- Name: lines lines_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.lines
    ADD CONSTRAINT lines_pkey PRIMARY KEY (kind, organization, app, path, part);

--
-- Name: lockgate_migrations lockgate_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.lockgate_migrations
    ADD CONSTRAINT lockgate_migrations_pkey PRIMARY KEY (version);

--
-- Name: meta meta_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (name);

--
-- Name: texts texts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.texts
    ADD CONSTRAINT texts_pkey PRIMARY KEY (kind, organization, app, path, stamp);

--
-- Name: changes_row; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX changes_row ON public.changes USING btree (kind, organization, app, path, at);

--
-- Name: edits_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX edits_at ON public.edits USING btree (at);

--
-- Name: edits_reach; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX edits_reach ON public.edits USING btree (organization, at);

--
-- Name: lines_grams; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX lines_grams ON public.lines USING gin (text public.gin_trgm_ops) WITH (gin_pending_list_limit='256');

--
-- Name: apps; Type: ROW SECURITY; Schema: public; Owner: -
--

ALTER TABLE public.apps ENABLE ROW LEVEL SECURITY;

--
-- Name: changes; Type: ROW SECURITY; Schema: public; Owner: -
--

ALTER TABLE public.changes ENABLE ROW LEVEL SECURITY;

--
-- Name: contents; Type: ROW SECURITY; Schema: public; Owner: -
--

ALTER TABLE public.contents ENABLE ROW LEVEL SECURITY;

--
-- Name: edits; Type: ROW SECURITY; Schema: public; Owner: -
--

ALTER TABLE public.edits ENABLE ROW LEVEL SECURITY;

--
-- Name: entities; Type: ROW SECURITY; Schema: public; Owner: -
--

ALTER TABLE public.entities ENABLE ROW LEVEL SECURITY;

--
-- Name: lines; Type: ROW SECURITY; Schema: public; Owner: -
--

ALTER TABLE public.lines ENABLE ROW LEVEL SECURITY;

--
-- Name: lines needle; Type: POLICY; Schema: public; Owner: -
--

CREATE POLICY needle ON public.lines AS RESTRICTIVE FOR SELECT USING ((text ~~ COALESCE(NULLIF(current_setting('lockgate.needle'::text, true), ''::text), '%'::text)));

--
-- Name: apps reach; Type: POLICY; Schema: public; Owner: -
--

CREATE POLICY reach ON public.apps USING (((organization = ANY (ARRAY[''::text, current_setting('lockgate.organization'::text, true)])) OR (current_setting('lockgate.everybody'::text, true) = 'on'::text)));

--
-- Name: changes reach; Type: POLICY; Schema: public; Owner: -
--

CREATE POLICY reach ON public.changes USING (((organization = ANY (ARRAY[''::text, current_setting('lockgate.organization'::text, true)])) OR (current_setting('lockgate.everybody'::text, true) = 'on'::text)));

--
-- Name: contents reach; Type: POLICY; Schema: public; Owner: -
--

CREATE POLICY reach ON public.contents USING (((organization = ANY (ARRAY[''::text, current_setting('lockgate.organization'::text, true)])) OR (current_setting('lockgate.everybody'::text, true) = 'on'::text)));

--
-- Name: edits reach; Type: POLICY; Schema: public; Owner: -
--

CREATE POLICY reach ON public.edits USING (((organization = ANY (ARRAY[''::text, current_setting('lockgate.organization'::text, true)])) OR (current_setting('lockgate.everybody'::text, true) = 'on'::text)));

--
-- Name: entities reach; Type: POLICY; Schema: public; Owner: -
--

CREATE POLICY reach ON public.entities USING (((organization = ANY (ARRAY[''::text, current_setting('lockgate.organization'::text, true)])) OR (current_setting('lockgate.everybody'::text, true) = 'on'::text)));

--
-- Name: lines reach; Type: POLICY; Schema: public; Owner: -
--

CREATE POLICY reach ON public.lines USING (((organization = ANY (ARRAY[''::text, current_setting('lockgate.organization'::text, true)])) OR (current_setting('lockgate.everybody'::text, true) = 'on'::text)));

--
-- Name: texts reach; Type: POLICY; Schema: public; Owner: -
--

CREATE POLICY reach ON public.texts USING (((organization = ANY (ARRAY[''::text, current_setting('lockgate.organization'::text, true)])) OR (current_setting('lockgate.everybody'::text, true) = 'on'::text)));

--
-- Name: texts; Type: ROW SECURITY; Schema: public; Owner: -
--

ALTER TABLE public.texts ENABLE ROW LEVEL SECURITY;

--
-- PostgreSQL database dump complete
--

