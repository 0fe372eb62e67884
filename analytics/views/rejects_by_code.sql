-- Grain: one row per reject code and field.
-- Units: counts of records and of sources; example_source and example_record name the first one.
SELECT
    code,
    field,
    count(*) AS rejects,
    count(DISTINCT (source, sha256)) AS sources,
    arg_min(source, (source, record)) AS example_source,
    arg_min(record, (source, record)) AS example_record
FROM rejects
GROUP BY code, field
ORDER BY rejects DESC, code, field NULLS FIRST
