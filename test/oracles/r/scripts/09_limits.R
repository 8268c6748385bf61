# Confidence limits of survfit (log, log-log, plain), Uno's C up to ymax, and survdiff with a group that has no expected
# events. Run in a folder with lib.R and the tiny tables: Rscript 09_limits.R TABLES OUT.json
args<-commandArgs(TRUE); suppressMessages({library(survival);library(jsonlite)}); eval(parse(text=readLines("lib.R")[-1])) # all of lib.R but its packages
limits<-function(time,status,level=.95,thin=1){
  r<-lapply(c(log="log",loglog="log-log",plain="plain"),function(ct) survfit(Surv(time,status)~1,timefix=FALSE,conf.type=ct,conf.int=level))
  K<-length(r$log$time); i<-unique(c(seq(1,K,by=thin),K))
  list(level=level,index=I(i-1),surv=I(r$log$surv[i]),log_lower=I(r$log$lower[i]),log_upper=I(r$log$upper[i]),
    loglog_lower=I(r$loglog$lower[i]),loglog_upper=I(r$loglog$upper[i]),plain_lower=I(r$plain$lower[i]),plain_upper=I(r$plain$upper[i]))
}
by<-function(time,status,g,...){ lv<-sort(unique(g[!is.na(g)])); setNames(lapply(lv,function(v){k<-which(g==v); limits(time[k],status[k],...)}),as.character(lv)) }
tiny<-c("heavy_ties","censored_tail","single_event","all_events")
T<-setNames(lapply(tiny,function(n) read.csv(file.path(args[1],paste0("tiny_",n,".csv")))),paste0("tiny_",tiny))
out<-list(source=paste0("R ",getRversion(),", survival ",packageVersion("survival")),
 limits=c(lapply(T,function(d) list(all=limits(d$time,d$status))),list(
  lung=list(all=limits(lung$time,lung$status==2)),lung_90=list(all=limits(lung$time,lung$status==2,.9,5)),
  pbc_stage=by(pbc$time,pbc$status==2,pbc$stage,thin=5),
  gbsg_grade=by(gbsg$rfstime,gbsg$status,gbsg$grade,thin=5),
  nwtco_histol=by(nwtco$edrel,nwtco$rel,nwtco$histol,thin=20),
  flchain_sex=by(flchain$futime,flchain$death,flchain$sex,thin=20))))
uno<-function(time,status,x,ymax){ c1<-function(...) unname(concordance(Surv(time,status)~x,reverse=TRUE,timefix=FALSE,...)$concordance)
  list(ymax=I(ymax),uno=I(vapply(ymax,function(y) c1(timewt="n/G2",ymax=y),0)),harrell=c1(),uno_all=c1(timewt="n/G2")) }
h<-T$tiny_heavy_ties
out$uno<-list(lung_age=uno(lung$time,1*(lung$status==2),lung$age,c(200,371,800)),heavy_ties_x=uno(h$time,h$status,h$x,c(2,3,4)),
  seven_rows=uno(c(11,11,26,89,128,299,300),c(1,0,0,1,0,1,0),c(-.02,1.2,-.56,-1.33,-.81,1.02,-1.29),c(128,299)))
# group c leaves before the first event: expected 0, dropped from the test
d<-data.frame(time=c(1,1,2,3,3,4,5,6,7,8),status=c(0,0,1,1,0,1,1,0,1,1),g=c("c","c","a","b","a","b","a","b","a","b"))
for(r in 0:1){ s<-survdiff(Surv(time,status)~g,data=d,rho=r)
  out[[paste0("group_without_events_rho",r)]]<-list(time=I(d$time),status=I(d$status),group=I(match(d$g,c("a","b","c"))-1),observed=I(as.vector(s$obs)),expected=I(as.vector(s$exp)),var=s$var,chisq=s$chisq,df=1,log_p=pchisq(s$chisq,1,lower.tail=FALSE,log.p=TRUE)) }
# Peto-Peto observed, expected, covariance
s<-survdiff(Surv(time,status==2)~ph.ecog,data=lung,rho=1)
out$lung_ph_ecog_rho1<-list(observed=I(as.vector(s$obs)),expected=I(as.vector(s$exp)),var=s$var,chisq=s$chisq,df=3,log_p=pchisq(s$chisq,3,lower.tail=FALSE,log.p=TRUE))
wj(out,args[2])
