use lyceum_store::Spool;

#[test]
fn a_spool_keeps_the_order_in_each_space() {
    let mut spool = Spool::new().unwrap();
    for n in 0..1000 {
        spool.put("users", &format!("user-{}", n % 10), &format!("value-{n}")).unwrap();
        spool.put("orgs", "user-1", "no user").unwrap();
    }
    let values = spool.get("users", "user-7").unwrap();
    assert_eq!(values.len(), 100);
    assert_eq!((values[0].as_str(), values[99].as_str()), ("value-7", "value-997"));
    spool.put("users", "user-7", "late").unwrap();
    assert_eq!(spool.get("users", "user-7").unwrap().last().unwrap(), "late");
    assert!(spool.get("users", "nobody").unwrap().is_empty());
    assert!(spool.get("nothing", "user-7").unwrap().is_empty());
    let mut all = Vec::new();
    spool
        .each("users", |key, value| {
            all.push((key.to_owned(), value.to_owned()));
            Ok(())
        })
        .unwrap();
    assert_eq!(all.len(), 1001);
    assert_eq!(all[1], ("user-1".to_owned(), "value-1".to_owned()));
    assert_eq!(all[1000], ("user-7".to_owned(), "late".to_owned()));
}
